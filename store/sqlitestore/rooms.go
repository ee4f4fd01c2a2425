package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strings"

	"hongbao/chat"
	"hongbao/store/cursor"
	"hongbao/store/eventlog"
)

const roomColumns = `r.id, r.name, r.kind, r.announcement, r.members, r.last_seq, r.created_at, r.deleted_at > 0, r.invite, not r.guests, r.frozen, r.ref`

// CreateRoom implements chat.Store.
func (s *Store) CreateRoom(ctx context.Context, r chat.NewRoom) (m chat.Membership, dup bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		m, dup, err = w.createRoom(r)
		return err
	})
	if err != nil {
		return chat.Membership{}, false, outcome("create room", err)
	}
	return m, dup, nil
}

func (w *writer) createRoom(r chat.NewRoom) (m chat.Membership, dup bool, err error) {
	req, dup, err := w.lookupRequest(r.KeyUser(), r.Key, r.Hash)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if dup {
		m, err := readRoomFor(w, req.room, r.Owner.ID)
		return m, true, err
	}
	for _, user := range r.Members {
		if err := w.knownUser(user); err != nil {
			return chat.Membership{}, false, err
		}
	}
	if err := w.limitPublicRooms(r); err != nil {
		return chat.Membership{}, false, err
	}
	if !r.Host {
		if err := w.refuseContact(r.Owner.ID, "members", r.Members...); err != nil {
			return chat.Membership{}, false, err
		}
	}
	taken, err := w.takeRoomRef(r)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if taken != "" {
		m, err := readRoomFor(w, taken, r.Owner.ID)
		return m, true, err
	}
	if _, err := w.exec(`insert into rooms (id, name, kind, invite, guests, created_at, ref, announcement) values (?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.Name, r.Kind, r.Invite, !r.NoGuests, r.At.UnixMilli(), r.Ref, r.Announcement); err != nil {
		return chat.Membership{}, false, err
	}
	w.refs.Room(eventlog.RoomCreated, r.ID)
	if err := w.ensureUser(r.Owner.ID); err != nil {
		return chat.Membership{}, false, err
	}
	if err := w.enter(entering{room: r.ID, user: r.Owner.ID, role: chat.Owner, at: r.At, chosen: !r.Host, maxRooms: r.MaxRooms}); err != nil {
		return chat.Membership{}, false, err
	}
	for _, user := range r.Members {
		if err := w.enter(entering{room: r.ID, user: user, role: chat.Plain, at: r.At, maxRooms: r.MaxRooms}); err != nil {
			return chat.Membership{}, false, err
		}
	}
	if err := w.putRequest(r.KeyUser(), r.Key, r.Hash, r.ID, 0, ""); err != nil {
		return chat.Membership{}, false, err
	}
	m, err = readRoomFor(w, r.ID, r.Owner.ID)
	return m, false, err
}

// limitPublicRooms fails if the owner owns as many public rooms as allowed. Rooms that the owner has not chosen do not
// count: otherwise other users could use up the limit by handing rooms over.
func (w *writer) limitPublicRooms(r chat.NewRoom) error {
	if r.Kind != chat.Public || r.MaxPublic == 0 {
		return nil
	}
	var owned int
	_, err := w.row(`select count(*) from members m join rooms r on r.id = m.room_id
		where m.user_id = ? and m.state = 'in' and m.role = 'owner' and m.chosen and r.kind = 'public'`, []any{r.Owner.ID}, &owned)
	if err == nil && owned >= r.MaxPublic {
		err = &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "kind", Reason: "must not be public: the user owns too many public rooms"}
	}
	return err
}

// FindRooms implements chat.Store. It ignores the case of ASCII letters only.
func (s *Store) FindRooms(ctx context.Context, query, next string, limit int) (rooms []chat.Room, more string, err error) {
	at, id := int64(math.MaxInt64), ""
	if next != "" {
		if err := cursor.Parse("rooms", next, &at, &id); err != nil {
			return nil, "", err
		}
	}
	rooms, err = rows(reader{ctx, s.read}, scanRoom, `select `+roomColumns+` from rooms r
		where r.kind = 'public' and r.deleted_at = 0 and r.members > 0 and (r.created_at, r.id) < (?, ?) and r.name like ? escape '\'
		order by r.created_at desc, r.id desc limit ?`, at, id, "%"+likeEscape.Replace(query)+"%", limit+1)
	if err != nil {
		return nil, "", outcome("find rooms", err)
	}
	if len(rooms) > limit {
		rooms = rooms[:limit]
		last := rooms[limit-1]
		more = cursor.Make("rooms", last.CreatedAt.UnixMilli(), last.ID)
	}
	return rooms, more, nil
}

// likeEscape escapes a text so that it matches only itself in a LIKE pattern.
var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// LastSeqs implements chat.Store.
func (s *Store) LastSeqs(ctx context.Context, ids []string) (map[string]int64, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rooms, err := rows(reader{ctx, s.read}, scanRoom, `select `+roomColumns+` from rooms r
		where r.id in (select value from json_each(?))`, string(list))
	if err != nil {
		return nil, outcome("read last seqs", err)
	}
	seqs := make(map[string]int64, len(rooms))
	for _, r := range rooms {
		seqs[r.ID] = r.LastSeq
	}
	return seqs, nil
}

// Room implements chat.Store.
func (s *Store) Room(ctx context.Context, room string) (chat.Room, error) {
	r, err := readRoom(reader{ctx, s.read}, room)
	return r, outcome("read room", err)
}

// readRoom reads a room, also a deleted one. It fails with chat.ErrNotFound if there never was one.
func readRoom(q querier, id string) (chat.Room, error) {
	rs, err := rows(q, scanRoom, `select `+roomColumns+` from rooms r where r.id = ?`, id)
	if err != nil {
		return chat.Room{}, err
	}
	if len(rs) == 0 {
		return chat.Room{}, chat.ErrNotFound
	}
	return rs[0], nil
}

// scanRoom scans roomColumns.
func scanRoom(rs *sql.Rows) (r chat.Room, err error) {
	err = rs.Scan(roomInto(&r)...)
	return r, err
}

func roomInto(r *chat.Room) []any {
	return []any{
		&r.ID, &r.Name, &r.Kind, &r.Announcement, &r.Members, &r.LastSeq, storedTime{&r.CreatedAt}, &r.Deleted,
		&r.Invite, &r.NoGuests, &r.Frozen, &r.Ref,
	}
}
