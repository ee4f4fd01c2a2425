package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// scene reads what the change is judged by, in one round trip. With a lock it stays so to the end of the transaction: the
// users first, so that nobody puts one of them into a room meanwhile, then the members, then the room. Before a room is
// deleted all who ever were in it are locked, but for those who were put out to empty it.
func (w *writer) scene(c chat.Change, lock string) (s chat.Scene, err error) {
	var (
		b      pgx.Batch
		known  = map[string]bool{}
		rooms  = map[string]int{}
		stood  = map[string]chat.Standing{}
		theirs []chat.Room
	)
	b.Queue(`select id, 0 from users where id = any($1) order by id`+lock, c.Users).Query(eachCount(func(user string, _ int) { known[user] = true }))
	if c.Kind == chat.Invite {
		b.Queue(`select user_id, count(*) from members where user_id = any($1) and state = 'in' group by user_id`, c.Users).
			Query(eachCount(func(user string, n int) { rooms[user] = n }))
	}
	if c.Kind == chat.DeleteRoom && lock != "" {
		b.Queue(`select count(*) from (select 1 from members where room_id = $1 and state <> 'gone'
			order by user_id`+lock+`) m`, c.Room)
	}
	queueStood(&b, stood, c.Room, append([]string{c.By.ID}, c.Users...), lock)
	queueTheRoom(&b, c.Room, lock, &theirs)
	if err := w.batch(&b); err != nil {
		return chat.Scene{}, err
	}
	if len(theirs) == 0 {
		return chat.Scene{}, chat.ErrNotFound
	}
	s.Room = theirs[0]
	standing := func(user string) chat.Standing {
		if st, ever := stood[user]; ever {
			return st
		}
		return chat.Standing{Visible: s.Room.Kind == chat.Public && !s.Room.Deleted}
	}
	s.By = standing(c.By.ID)
	for _, user := range c.Users {
		s.Users = append(s.Users, chat.Placed{User: user, Known: known[user], Rooms: rooms[user], Standing: standing(user)})
	}
	return s, nil
}

// eachCount reads pairs of a user and a number.
func eachCount(take func(user string, n int)) func(pgx.Rows) error {
	return func(rs pgx.Rows) error {
		var user string
		var n int
		_, err := pgx.ForEachRow(rs, []any{&user, &n}, func() error {
			take(user, n)
			return nil
		})
		return err
	}
}

// queueStood has the batch read how those of the users stand to the room who were ever in it.
func queueStood(b *pgx.Batch, stood map[string]chat.Standing, room string, users []string, lock string) {
	b.Queue(`select user_id, `+standingColumns+` from members where room_id = $1 and user_id = any($2) order by user_id`+lock,
		room, users).Query(func(rs pgx.Rows) error {
		var user string
		var st storedStanding
		_, err := pgx.ForEachRow(rs, append([]any{&user}, st.into()...), func() error {
			stood[user] = st.standing()
			return nil
		})
		return err
	})
}

// queueTheRoom has the batch read a room, if there is one.
func queueTheRoom(b *pgx.Batch, room, lock string, found *[]chat.Room) {
	b.Queue(`select `+roomColumns+` from rooms r where r.id = $1`+lock, room).Query(func(rs pgx.Rows) (err error) {
		*found, err = collect(rs, scanRoom)
		return err
	})
}
