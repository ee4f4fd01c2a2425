package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// emptying is how many at a time are put out of a large room that is to be deleted. While their rows are locked nobody
// can write who shares a commit with one of them, in whatever room.
const emptying = 1000

// empty puts most people out of a large room that is to be deleted, but not its owner: if it comes to nothing in the
// middle, he can ask again. A refusal is the deletion's.
func (s *Store) empty(ctx context.Context, c chat.Change) error {
	for after, more := "", true; more; {
		from := after
		err := s.tx(ctx, func(w *writer) (err error) {
			after, more, err = w.emptySome(c, from)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// emptySome puts out the next ones after the given user, if there are many.
func (w *writer) emptySome(c chat.Change, after string) (last string, more bool, err error) {
	if err := w.mayDelete(c); err != nil {
		return "", false, err
	}
	many, err := w.row(`select user_id from members where room_id = $1 and user_id > $2 and state <> 'gone'
		order by user_id offset $3 limit 1`, []any{c.Room, after, emptying - 1}, &last)
	if err != nil || !many {
		return "", false, err
	}
	users, err := rows(w, scanText, `select user_id from members where room_id = $1 and user_id > $2 and user_id <= $3 and user_id <> $4
		and state <> 'gone' order by user_id for update`, c.Room, after, last, c.By.ID)
	if err != nil {
		return "", false, err
	}
	if _, err := w.lockRoom(c.Room); err != nil {
		return "", false, err
	}
	if err := w.mayDelete(c); err != nil { // nor can he lose the room from here on
		return "", false, err
	}
	var b pgx.Batch
	b.Queue(`update rooms set members = members - (select count(*) from members where room_id = $1 and user_id = any($2) and state = 'in')
		where id = $1`, c.Room, users)
	b.Queue(`update members set state = 'gone', role = 'member' where room_id = $1 and user_id = any($2)`, c.Room, users)
	return last, true, w.batch(&b)
}

func (w *writer) mayDelete(c chat.Change) error {
	s, err := w.scene(c, "")
	if err == nil {
		_, err = c.Rule(s)
	}
	return err
}
