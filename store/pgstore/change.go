package pgstore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/tables"
)

// Change implements chat.Store. Of the changes of one room, one at a time uses a connection.
func (s *Store) Change(ctx context.Context, c chat.Change) (made chat.Changed, err error) {
	caller := ctx
	ctx = arrived(ctx)
	done, err := s.roomLocks.lock(ctx, c.Room)
	if err != nil {
		return chat.Changed{}, tables.Unavailable("change room", err)
	}
	defer done()
	if c.Kind == chat.DeleteRoom {
		ctx = context.WithoutCancel(caller) // a deletion takes many steps, each with a patience of its own, and must not stop halfway when the caller's context ends
		if err := s.emptyRoom(ctx, c); err != nil {
			return chat.Changed{}, tables.Outcome("empty room", err)
		}
	}
	return s.Tables.Change(ctx, c)
}

// emptyStep is the most members that one step removes from a large room before its deletion. While a step holds
// their rows, a group commit with an entry for this room waits, and so do its jobs for other rooms.
const emptyStep = 1000

// emptyRoom removes most members of a large room, except the user that deletes it, before the deletion. If it fails halfway,
// the deletion can be repeated. It returns an error if the user may not delete the room.
func (s *Store) emptyRoom(ctx context.Context, c chat.Change) error {
	for after, more := "", true; more; {
		from := after
		err := s.tx(ctx, func(w *writer) (err error) {
			after, more, err = w.emptyRoomStep(c, from)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// emptyRoomStep removes the next emptyStep present and former members after the given user, except the user that
// deletes the room. It returns the last of them. If there are fewer left, it removes none and returns more = false.
func (w *writer) emptyRoomStep(c chat.Change, after string) (last string, more bool, err error) {
	if err := tables.MayChange(w, c); err != nil {
		return "", false, err
	}
	many, err := w.Row(`select user_id from members where room_id = $1 and user_id > $2 and state <> 'gone'
		order by user_id offset $3 limit 1`, []any{c.Room, after, emptyStep - 1}, &last)
	if err != nil || !many {
		return "", false, err
	}
	users, err := tables.List(w, tables.ScanText, `select user_id from members where room_id = $1 and user_id > $2 and user_id <= $3 and user_id <> $4
		and state <> 'gone' order by user_id for update`, c.Room, after, last, c.By.ID)
	if err != nil {
		return "", false, err
	}
	if _, err := tables.LockRoom(w, c.Room); err != nil {
		return "", false, err
	}
	if err := tables.MayChange(w, c); err != nil { // judged under locks: from here on the owner cannot lose the room
		return "", false, err
	}
	var b tables.Batch
	b.Exec(`update rooms set members = members - (select count(*) from members where room_id = $1 and user_id = any($2) and state = 'in')
		where id = $1`, c.Room, users)
	b.Exec(`update members set state = 'gone', role = 'member' where room_id = $1 and user_id = any($2)`, c.Room, users)
	return last, true, w.Send(&b)
}
