package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"

	"hongbao/redpacket"
)

// deletedRooms selects the deleted rooms not yet marked packets_closed, and whether they have open packets. It relies
// on the indexes rooms_deleted and packets_room.
const deletedRooms = `select r.id, exists (select 1 from packets p where p.room_id = r.id and p.status = 'open')
	from rooms r where r.deleted_at <> 0 and r.packets_closed = 0 and r.id > ? order by r.id limit ?`

// DeletedRooms implements redpacket.Ledger. There is one writer, so a snapshot with the room's deletion also has
// every packet that was sent into the room.
func (s *Store) DeletedRooms(ctx context.Context, after string, limit int) (open []string, next string, err error) {
	page, err := rows(reader{ctx, s.read}, scanDeleted, deletedRooms, after, limit)
	var done []string
	for _, room := range page {
		if room.open {
			open = append(open, room.id)
		} else {
			done = append(done, room.id)
		}
	}
	if err == nil && len(page) == limit {
		next = page[limit-1].id
	}
	if err == nil && len(done) > 0 {
		err = s.markClosedRooms(ctx, done)
	}
	return open, next, outcome("list deleted rooms", err)
}

func (s *Store) markClosedRooms(ctx context.Context, ids []string) error {
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return s.do(ctx, func(w *writer) error {
		_, err := w.exec(`update rooms set packets_closed = 1 where id in (select value from json_each(?))`, string(list))
		return err
	})
}

// deletedRoom is a row of deletedRooms.
type deletedRoom struct {
	id   string
	open bool // it has open packets
}

func scanDeleted(rs *sql.Rows) (r deletedRoom, err error) {
	err = rs.Scan(&r.id, &r.open)
	return r, err
}

// openInDeleted selects the open packets of a room if the room is deleted, and none otherwise.
const openInDeleted = `select p.id, p.partition from packets p
	where p.room_id = ?1 and p.status = 'open' and p.id > ?2 and exists (select 1 from rooms r where r.id = ?1 and r.deleted_at <> 0)
	order by p.id limit ?3`

// OpenInDeleted implements redpacket.Ledger.
func (s *Store) OpenInDeleted(ctx context.Context, room, after string, limit int) ([]redpacket.Ref, error) {
	open, err := rows(reader{ctx, s.read}, scanRef, openInDeleted, room, after, limit)
	return open, outcome("list open packets of a deleted room", err)
}

func scanRef(rs *sql.Rows) (r redpacket.Ref, err error) {
	err = rs.Scan(&r.ID, &r.Partition)
	return r, err
}
