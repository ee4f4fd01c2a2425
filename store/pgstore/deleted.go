package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// deletedRooms lists the deleted rooms not yet marked packets_closed, and whether they have open packets. It relies
// on the indexes rooms_deleted and packets_room.
const deletedRooms = `select r.id, exists (select from packets p where p.room_id = r.id and p.status = 'open')
	from rooms r where r.deleted_at <> 0 and not r.packets_closed and r.id > $1 order by r.id limit $2`

// DeletedRooms implements redpacket.Ledger. A deletion locks the rows of all members until its commit, and each send
// locks the sender's row. So a reader that sees a room as deleted also sees every packet that was sent into it.
func (s *Store) DeletedRooms(ctx context.Context, after string, limit int) (open []string, next string, err error) {
	var done []string
	err = s.withReader(ctx, func(r reader) error {
		page, err := rows(r, scanDeleted, deletedRooms, after, limit)
		open, done, next = nil, nil, ""
		for _, room := range page {
			if room.open {
				open = append(open, room.id)
			} else {
				done = append(done, room.id)
			}
		}
		if len(page) == limit {
			next = page[limit-1].id
		}
		return err
	})
	if err == nil && len(done) > 0 {
		err = s.markClosedRooms(ctx, done)
	}
	return open, next, outcome("list deleted rooms", err)
}

// markClosedRooms marks deleted rooms without open packets. It skips rooms that another transaction has locked: a
// later call of DeletedRooms lists them again.
func (s *Store) markClosedRooms(ctx context.Context, ids []string) error {
	return s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`with idle as (select id from rooms where id = any($1) order by id for update skip locked)
			update rooms r set packets_closed = true from idle where r.id = idle.id`, ids)
		return err
	})
}

// deletedRoom is a deleted room that is not marked packets_closed yet.
type deletedRoom struct {
	id   string
	open bool // it has open packets
}

func scanDeleted(rs pgx.Rows) (r deletedRoom, err error) {
	err = rs.Scan(&r.id, &r.open)
	return r, err
}

// openInDeleted lists the open packets of a room if the room is deleted, and none otherwise.
const openInDeleted = `select p.id, p.partition from packets p
	where p.room_id = $1 and p.status = 'open' and p.id > $2 and exists (select from rooms r where r.id = $1 and r.deleted_at <> 0)
	order by p.id limit $3`

// OpenInDeleted implements redpacket.Ledger.
func (s *Store) OpenInDeleted(ctx context.Context, room, after string, limit int) (open []redpacket.Ref, err error) {
	err = s.withReader(ctx, func(r reader) error {
		open, err = rows(r, scanRef, openInDeleted, room, after, limit)
		return err
	})
	return open, outcome("list open packets of a deleted room", err)
}

func scanRef(rs pgx.Rows) (r redpacket.Ref, err error) {
	err = rs.Scan(&r.ID, &r.Partition)
	return r, err
}
