package pgstore

import (
	"context"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/cursor"
)

const roomColumns = `r.id, r.name, r.kind, r.announcement, r.members, r.last_seq, r.created_at, r.deleted_at <> 0, r.invite, not r.guests, r.frozen, r.ref`

// roomInto returns the destinations to scan roomColumns into r.
func roomInto(r *chat.Room) []any {
	return []any{&r.ID, &r.Name, &r.Kind, &r.Announcement, &r.Members, &r.LastSeq, storedTime{&r.CreatedAt}, &r.Deleted, &r.Invite, &r.NoGuests, &r.Frozen, &r.Ref}
}

func scanRoom(rs pgx.Rows) (r chat.Room, err error) {
	err = rs.Scan(roomInto(&r)...)
	return r, err
}

// FindRooms implements chat.Store. ASCII letters match without regard to case, others exactly.
func (s *Store) FindRooms(ctx context.Context, query, next string, limit int) (found []chat.Room, more string, err error) {
	at, id := int64(math.MaxInt64), ""
	if next != "" {
		if err := cursor.Parse("rooms", next, &at, &id); err != nil {
			return nil, "", err
		}
	}
	err = s.withReader(ctx, func(r reader) error {
		found, err = rows(r, scanRoom, `select `+roomColumns+` from rooms r
			where r.kind = 'public' and r.deleted_at = 0 and r.members > 0 and (r.created_at, r.id) < ($1, $2)
			and lower(r.name collate "C") like lower($3::text collate "C") escape '\'
			order by r.created_at desc, r.id desc limit $4`, at, id, "%"+likeEscape.Replace(query)+"%", limit+1)
		return err
	})
	if err != nil {
		return nil, "", outcome("find rooms", err)
	}
	if len(found) > limit {
		found = found[:limit]
		last := found[limit-1]
		more = cursor.Make("rooms", last.CreatedAt.UnixMilli(), last.ID)
	}
	return found, more, nil
}

// likeEscape escapes a text so that LIKE matches only the text itself.
var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// LastSeqs implements chat.Store.
func (s *Store) LastSeqs(ctx context.Context, ids []string) (seqs map[string]int64, err error) {
	var found []chat.Room
	err = s.withReader(ctx, func(r reader) error {
		found, err = rows(r, scanRoom, `select `+roomColumns+` from rooms r where r.id = any($1)`, ids)
		return err
	})
	if err != nil {
		return nil, outcome("read last seqs", err)
	}
	seqs = make(map[string]int64, len(found))
	for _, r := range found {
		seqs[r.ID] = r.LastSeq
	}
	return seqs, nil
}

// Room implements chat.Store.
func (s *Store) Room(ctx context.Context, room string) (found chat.Room, err error) {
	err = s.withReader(ctx, func(r reader) error {
		found, err = readRoom(r, room)
		return err
	})
	return found, outcome("read room", err)
}

// readRoom reads a room, also a deleted one. It returns chat.ErrNotFound if there never was one.
func readRoom(q querier, id string) (chat.Room, error) { return selectRoom(q, id, "") }

// lockRoom reads a room and locks it until the end of the transaction. No other row may be locked after it.
func (w *writer) lockRoom(id string) (chat.Room, error) { return selectRoom(w, id, " for update") }

func selectRoom(q querier, id, lock string) (chat.Room, error) {
	rs, err := rows(q, scanRoom, `select `+roomColumns+` from rooms r where r.id = $1`+lock, id)
	if err != nil {
		return chat.Room{}, err
	}
	if len(rs) == 0 {
		return chat.Room{}, chat.ErrNotFound
	}
	return rs[0], nil
}
