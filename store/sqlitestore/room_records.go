package sqlitestore

import (
	"context"
	"database/sql"

	"hongbao/chat"
	"hongbao/store/cursor"
)

// recordOfRoom selects roomColumns and the owner of a room r.
const recordOfRoom = `select ` + roomColumns + `, coalesce((select m.user_id from members m where m.room_id = r.id and m.state = 'in' and m.role = 'owner'), '')
	from rooms r `

func scanRoomRecord(rs *sql.Rows) (r chat.RoomRecord, err error) {
	err = rs.Scan(append(roomInto(&r.Room), &r.Owner)...)
	return r, err
}

// RoomRecord implements chat.Store.
func (s *Store) RoomRecord(ctx context.Context, room string) (chat.RoomRecord, error) {
	found, err := s.roomRecords(ctx, recordOfRoom+`where r.id = ? and r.deleted_at = 0`, room)
	if err == nil && len(found) == 0 {
		err = chat.ErrNotFound
	}
	if err != nil {
		return chat.RoomRecord{}, outcome("read room", err)
	}
	return found[0], nil
}

// RoomRecords implements chat.Store.
func (s *Store) RoomRecords(ctx context.Context, q chat.RoomQuery) (found []chat.RoomRecord, more string, err error) {
	if q.Ref != "" {
		found, err = s.roomRecords(ctx, recordOfRoom+`join refs f on f.id = r.id where f.kind = 'room' and f.ref = ? and r.deleted_at = 0`, q.Ref)
		return found, "", outcome("find room", err)
	}
	from := ""
	if q.Next != "" {
		if err := cursor.Parse("rooms of the host", q.Next, &from); err != nil {
			return nil, "", err
		}
	}
	found, err = s.roomRecords(ctx, recordOfRoom+`where r.id > ? and r.deleted_at = 0 order by r.id limit ?`, from, q.Limit+1)
	if err != nil {
		return nil, "", outcome("list rooms", err)
	}
	if len(found) > q.Limit {
		found = found[:q.Limit]
		more = cursor.Make("rooms of the host", found[q.Limit-1].ID)
	}
	return found, more, nil
}

func (s *Store) roomRecords(ctx context.Context, query string, args ...any) ([]chat.RoomRecord, error) {
	return rows(reader{ctx, s.read}, scanRoomRecord, query, args...)
}

// takeRoomRef gives the new room its ref. If a room that is not deleted has it, it returns that room.
func (w *writer) takeRoomRef(r chat.NewRoom) (taken string, err error) {
	if r.Ref == "" {
		return "", nil
	}
	for {
		owner, err := w.takeRef("room", r.Ref, r.ID)
		if err != nil || owner == r.ID {
			return "", err
		}
		if other, err := readRoom(w, owner); err != nil || !other.Deleted {
			return owner, err
		}
		if _, err := w.exec(`delete from refs where kind = 'room' and ref = ? and id = ?`, r.Ref, owner); err != nil {
			return "", err
		}
	}
}
