package pgstore

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// Change implements chat.Store.
func (s *Store) Change(ctx context.Context, c chat.Change) (made chat.Changed, err error) {
	done, err := s.roomLocks.lock(ctx, c.Room)
	if err != nil {
		return chat.Changed{}, tables.Unavailable("change room", err)
	}
	defer done()
	if c.Kind == chat.DeleteRoom {
		ctx = context.WithoutCancel(ctx) // a deletion takes many steps, and must not stop halfway when the caller's context ends
		if err := s.emptyRoom(ctx, c); err != nil {
			return chat.Changed{}, tables.Outcome("empty room", err)
		}
	}
	var before chat.Changed // result of the previous run of the transaction, which may have been committed
	err = s.tx(ctx, func(w *writer) error {
		if made, err = w.change(c, before); err == nil {
			before = made
		}
		return err
	})
	if err != nil {
		return chat.Changed{}, tables.Outcome("change room", err)
	}
	return made, nil
}

// change first judges the change without locks, because many changes are forbidden or already in effect. If the change
// is to be made, it judges again under locks. If an earlier run may have been committed, it judges only under locks.
func (w *writer) change(c chat.Change, before chat.Changed) (chat.Changed, error) {
	if !w.maybeCommitted {
		s, err := w.readScene(c, "")
		if err != nil {
			return chat.Changed{}, err
		}
		if r, err := c.Rule(s); err != nil || changesNothing(r) {
			return chat.Changed{Room: s.Room, Role: s.By.Role, Refused: r.Refused}, err
		}
	}
	s, err := w.readScene(c, " for update")
	if err != nil {
		return chat.Changed{}, err
	}
	if mine, err := tables.CommittedBefore(w, before.Entries...); err != nil || mine {
		return before, err
	}
	r, err := c.Rule(s)
	if w.maybeCommitted && before.Changed && len(before.Entries) == 0 && (err == nil && changesNothing(r) || before.Room.Deleted && s.Room.Deleted) {
		return before, nil // an identical call may have made the change instead; then both report it, which is harmless
	}
	if err != nil || changesNothing(r) {
		return chat.Changed{Room: s.Room, Role: s.By.Role, Refused: r.Refused}, err
	}
	return w.applyRuling(c, s, r)
}

// changesNothing reports whether the ruling leaves everything as it is.
func changesNothing(r chat.Ruling) bool {
	return len(r.Standings) == 0 && r.Room == nil && len(r.Entries) == 0 && !r.Asks && !r.Answered
}

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

// applyRuling writes what the ruling decides. The rows that readScene has read for the ruling must be locked.
func (w *writer) applyRuling(c chat.Change, s chat.RuleInput, r chat.Ruling) (chat.Changed, error) {
	made := chat.Changed{Changed: true, Room: s.Room, Role: s.By.Role, Refused: r.Refused}
	was := map[string]bool{c.By.ID: s.By.In}
	for _, p := range s.Users {
		was[p.User] = p.Standing.In
	}
	for _, p := range r.Standings {
		made.Affected = append(made.Affected, p.User)
		switch in := p.Standing.In; {
		case in && !was[p.User]:
			made.Entered = append(made.Entered, p.User)
		case !in && was[p.User]:
			made.Exited = append(made.Exited, p.User)
		}
		if p.User == c.By.ID {
			made.Role = p.Standing.Role
		}
	}
	made.Room.Members += len(made.Entered) - len(made.Exited)
	var b pgx.Batch
	queuePutStandings(&b, s.Room, r.Standings, c.At, c.Chosen())
	if r.Room != nil {
		made.Room.Name, made.Room.Announcement = r.Room.Name, r.Room.Announcement
		made.Room.Invite, made.Room.NoGuests, made.Room.Frozen = r.Room.Invite, r.Room.NoGuests, r.Room.Frozen
		if r.Room.Deleted {
			made.Room.Deleted, made.Room.Members, made.Role = true, 0, chat.NoRole
			b.Queue(`update members set state = 'gone', role = 'member' where room_id = $1 and state <> 'gone'`, c.Room)
			w.refs.Room(eventlog.RoomDeleted, c.Room)
		}
	}
	w.refs.Members(eventlog.MemberJoined, c.Room, made.Entered...)
	w.refs.Members(eventlog.MemberLeft, c.Room, made.Exited...)
	for _, st := range tables.UseLink(c, r) {
		b.Queue(st.Text, st.Args...)
	}
	for i, e := range r.Entries {
		made.Entries = append(made.Entries, chat.Entry{ID: c.EntryIDs[i], At: c.At, From: c.By, Kind: e.Kind, Body: e.Body})
	}
	var n tables.Batch
	if err := tables.QueueNotes(w, &n, &made.Room, made.Entries, 0); err != nil {
		return chat.Changed{}, err
	}
	enqueue(&b, &n)
	queueUpdateRoom(&b, made.Room, c.At)
	return made, w.sendBatch(&b)
}

// queuePutStandings makes the batch write the users' new standings. For a user that enters the room, all earlier
// entries count as read, and chosen says whether the room is a chosen room of the user. A user that was never a member gets a
// new row.
func queuePutStandings(b *pgx.Batch, room chat.Room, stand []chat.UserStanding, at time.Time, chosen bool) {
	if len(stand) == 0 {
		return
	}
	var (
		users, states, roles []string
		banned               []bool
		muted, ends          []int64
		reasons              []string
	)
	for _, p := range stand {
		state, until := tables.StateKicked, int64(0)
		if p.Standing.In {
			state = tables.StateIn
		}
		if !p.Standing.MutedUntil.IsZero() {
			until = p.Standing.MutedUntil.UnixMilli()
		}
		users, states, roles = append(users, p.User), append(states, state), append(roles, string(cmp.Or(p.Standing.Role, chat.Plain)))
		end := int64(0)
		if p.Standing.Banned && !p.Standing.BannedUntil.IsZero() {
			end = p.Standing.BannedUntil.UnixMilli()
		}
		banned, muted = append(banned, p.Standing.Banned), append(muted, until)
		ends, reasons = append(ends, end), append(reasons, p.Why)
	}
	b.Queue(`insert into members as m (room_id, user_id, state, banned, role, muted_until, read_seq, joined_at, joined_seq, chosen, banned_until, ban_reason)
		select $1, user_id, state, banned, role, muted_until, $7, $8, $7, $9, banned_until, ban_reason
		from unnest($2::text[], $3::text[], $4::bool[], $5::text[], $6::bigint[], $10::bigint[], $11::text[])
			as l (user_id, state, banned, role, muted_until, banned_until, ban_reason)
		on conflict (room_id, user_id) do update set
			state = case when 'in' in (m.state, excluded.state) then excluded.state else m.state end,
			banned = excluded.banned, role = excluded.role, muted_until = excluded.muted_until,
			banned_until = excluded.banned_until,
			ban_reason = case when excluded.banned and excluded.ban_reason = '' then m.ban_reason else excluded.ban_reason end,
			read_seq = case when m.state <> 'in' and excluded.state = 'in' then excluded.read_seq else m.read_seq end,
			joined_at = case when m.state <> 'in' and excluded.state = 'in' then excluded.joined_at else m.joined_at end,
			joined_seq = case when m.state <> 'in' and excluded.state = 'in' then excluded.joined_seq else m.joined_seq end,
			chosen = case when m.state <> 'in' and excluded.state = 'in' then excluded.chosen else m.chosen end`,
		room.ID, users, states, banned, roles, muted, room.LastSeq, at.UnixMilli(), chosen, ends, reasons)
}

// queueUpdateRoom makes the batch write the new state of the room, which must be locked.
func queueUpdateRoom(b *pgx.Batch, r chat.Room, at time.Time) {
	deleted := int64(0)
	if r.Deleted {
		deleted = at.UnixMilli()
	}
	b.Queue(`update rooms set name = $2, announcement = $3, members = $4, last_seq = $5, deleted_at = $6, invite = $7, guests = $8, frozen = $9 where id = $1`,
		r.ID, r.Name, r.Announcement, r.Members, r.LastSeq, deleted, r.Invite, !r.NoGuests, r.Frozen)
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
	if err := w.mayDelete(c); err != nil {
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
	if err := w.mayDelete(c); err != nil { // judged under locks: from here on the owner cannot lose the room
		return "", false, err
	}
	var b pgx.Batch
	b.Queue(`update rooms set members = members - (select count(*) from members where room_id = $1 and user_id = any($2) and state = 'in')
		where id = $1`, c.Room, users)
	b.Queue(`update members set state = 'gone', role = 'member' where room_id = $1 and user_id = any($2)`, c.Room, users)
	return last, true, w.sendBatch(&b)
}

func (w *writer) mayDelete(c chat.Change) error {
	s, err := w.readScene(c, "")
	if err == nil {
		_, err = c.Rule(s)
	}
	return err
}
