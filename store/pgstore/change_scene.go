package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/tables"
)

// readScene reads all that decides about the change, in one round trip. It returns chat.ErrNotFound if there never was
// such a room. With a lock clause it locks the users first, so that no other transaction adds one of them to a room;
// then the memberships of these users and of c.By, then the room. Before the deletion of a room it locks all present
// and former members, except those that emptyRoom has removed.
func (w *writer) readScene(c chat.Change, lock string) (s chat.RuleInput, err error) {
	var (
		b         pgx.Batch
		known     = map[string]bool{}
		refuse    = map[string]bool{}
		rooms     = map[string]int{}
		asks      = map[string]bool{}
		standings = map[string]chat.Standing{}
		found     []chat.Room
	)
	b.Queue(`select id, 0 from users where id = any($1) order by id`+lock, c.Users).Query(eachCount(func(user string, _ int) { known[user] = true }))
	if c.Admits() {
		b.Queue(`select user_id, `+countedRooms+` from members where user_id = any($1) and state = 'in' group by user_id`,
			c.Users, c.Chosen(), c.MaxRooms).
			Query(eachCount(func(user string, n int) { rooms[user] = n }))
	}
	if c.Kind == chat.Invite {
		b.Queue(`select id, 0 `+tables.Refusing(w), c.By.ID, c.Users).Query(eachCount(func(user string, _ int) { refuse[user] = true }))
	}
	if c.Kind == chat.DeleteRoom && lock != "" {
		b.Queue(`select count(*) from (select 1 from members where room_id = $1 and state <> 'gone'
			order by user_id`+lock+`) m`, c.Room)
	}
	queueReadStandings(&b, standings, c.Room, append([]string{c.By.ID}, c.Users...), lock)
	queueReadRoom(&b, c.Room, lock, &found)
	if c.Kind == chat.JoinLink { // under the room's lock, which each change of the creator's standing and each use of the link takes
		b.Queue(tables.LinkQuery, c.Room, c.Link).Query(func(rs pgx.Rows) error {
			links, err := collect(rs, tables.ScanLink)
			if err == nil && len(links) > 0 {
				s.Link = &links[0]
			}
			return err
		})
		b.Queue(`select count(*) from join_requests r where r.room_id = $1 and `+tables.Unanswered, c.Room).QueryRow(func(r pgx.Row) error { return r.Scan(&s.Asks) })
	}
	if c.AboutRequest() {
		b.Queue(`select user_id, 0 from join_requests r where r.room_id = $1 and r.user_id = any($2) and `+tables.Unanswered, c.Room, c.Users).
			Query(eachCount(func(user string, _ int) { asks[user] = true }))
	}
	if err := w.sendBatch(&b); err != nil {
		return chat.RuleInput{}, err
	}
	if len(found) == 0 {
		return chat.RuleInput{}, chat.ErrNotFound
	}
	s.Room = found[0]
	standing := func(user string) chat.Standing {
		if st, ever := standings[user]; ever {
			return st
		}
		return chat.Standing{Visible: s.Room.Kind == chat.Public && !s.Room.Deleted}
	}
	s.By = standing(c.By.ID)
	for _, user := range c.Users {
		s.Users = append(s.Users, chat.UserStanding{
			User: user, Known: known[user], Rooms: rooms[user], Refuses: refuse[user], Asks: asks[user], Standing: standing(user),
		})
	}
	return s, nil
}

// eachCount returns a callback that reads rows of a user and a number, and passes each to take.
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

// queueReadStandings makes the batch read the standings of those of the users that are or were members of the room.
// lock is a lock clause, or "".
func queueReadStandings(b *pgx.Batch, standings map[string]chat.Standing, room string, users []string, lock string) {
	b.Queue(`select user_id, `+tables.StandingColumns+` from members where room_id = $1 and user_id = any($2) order by user_id`+lock,
		room, users).Query(func(rs pgx.Rows) error {
		var user string
		var st tables.StoredStanding
		_, err := pgx.ForEachRow(rs, append([]any{&user}, st.Into()...), func() error {
			standings[user] = st.Standing()
			return nil
		})
		return err
	})
}

// queueReadRoom makes the batch read the room, also a deleted one. found stays empty if there never was one.
func queueReadRoom(b *pgx.Batch, room, lock string, found *[]chat.Room) {
	b.Queue(`select `+tables.RoomColumns+` from rooms r where r.id = $1`+lock, room).Query(func(rs pgx.Rows) (err error) {
		*found, err = collect(rs, tables.ScanRoom)
		return err
	})
}
