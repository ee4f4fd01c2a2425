package tables

import (
	"cmp"
	"context"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// Change implements chat.Store.
func (t Tables) Change(ctx context.Context, c chat.Change) (chat.Changed, error) {
	return write(ctx, t.db, "change room", func(w Tx, before chat.Changed) (chat.Changed, error) { return change(w, c, before) })
}

// change first judges the change without locks, because many changes are forbidden or already in effect. If the change
// is to be made, it judges again under locks. If an earlier run may have been committed, or if the database has no locks,
// it judges only once.
func change(w Tx, c chat.Change, before chat.Changed) (chat.Changed, error) {
	if !w.Again() && w.Lock() != "" {
		s, err := readScene(w, c, "")
		if err != nil {
			return chat.Changed{}, err
		}
		if r, err := c.Rule(s); err != nil || changesNothing(r) {
			return chat.Changed{Room: s.Room, Role: s.By.Role, Refused: r.Refused}, err
		}
	}
	s, err := readScene(w, c, w.Lock())
	if err != nil {
		return chat.Changed{}, err
	}
	if mine, err := committedBefore(w, before.Entries...); err != nil || mine {
		return before, err
	}
	r, err := c.Rule(s)
	if w.Again() && before.Changed && len(before.Entries) == 0 && (err == nil && changesNothing(r) || before.Room.Deleted && s.Room.Deleted) {
		return before, nil // an identical call may have made the change instead; then both report it, which is harmless
	}
	if err != nil || changesNothing(r) {
		return chat.Changed{Room: s.Room, Role: s.By.Role, Refused: r.Refused}, err
	}
	return applyRuling(w, c, s, r)
}

// changesNothing reports whether the ruling leaves everything as it is.
func changesNothing(r chat.Ruling) bool {
	return len(r.Standings) == 0 && r.Room == nil && len(r.Entries) == 0 && !r.Asks && !r.Answered
}

// readScene reads all that decides about the change, in one round trip. It returns chat.ErrNotFound if there never was
// such a room. With a lock clause it locks the users first, so that no other transaction adds one of them to a room;
// then the memberships of these users and of c.By, then the room.
func readScene(w Tx, c chat.Change, lock string) (s chat.RuleInput, err error) {
	var (
		b         Batch
		known     = map[string]bool{}
		refuse    = map[string]bool{}
		rooms     = map[string]int{}
		asks      = map[string]bool{}
		standings = map[string]chat.Standing{}
		room      *chat.Room
		users     = w.List(c.Users)
		gone      bool // one of the users is erased
	)
	b.Each(func(row Row) error {
		var user string
		var erased bool
		err := row.Scan(&user, &erased)
		known[user] = !erased
		gone = gone || erased
		return err
	}, `select id, erased_at > 0 from users where id `+w.In(1)+` order by id`+lock, users)
	if c.Admits() {
		var user string
		var n int
		b.Each(func(row Row) error {
			err := row.Scan(&user, &n)
			rooms[user] = n
			return err
		}, `select user_id, `+countedRooms+` from members where user_id `+w.In(1)+` and state = 'in' group by user_id`, users, c.Chosen(), c.MaxRooms)
	}
	if c.Kind == chat.Invite {
		b.Each(eachUser(refuse), `select id `+refusing(w), c.By.ID, users)
	}
	queueStandings(w, &b, standings, c.Room, append([]string{c.By.ID}, c.Users...), lock)
	queueRoom(&b, c.Room, lock, &room)
	if c.Kind == chat.JoinLink { // under the room's lock, which each change of the creator's standing and each use of the link takes
		b.Each(func(row Row) error {
			link, err := scanLink(row)
			s.Link = &link
			return err
		}, linkQuery, c.Room, c.Link)
		b.Each(func(row Row) error { return row.Scan(&s.Asks) }, `select count(*) from join_requests r where r.room_id = $1 and `+unanswered, c.Room)
	}
	if c.AboutRequest() {
		b.Each(eachUser(asks), `select user_id from join_requests r where r.room_id = $1 and r.user_id `+w.In(2)+` and `+unanswered, c.Room, users)
	}
	if err := w.Send(&b); err != nil {
		return chat.RuleInput{}, err
	}
	switch {
	case room == nil:
		return chat.RuleInput{}, chat.ErrNotFound
	case gone && c.Chosen(): // a command of the user that began before the erasure
		return chat.RuleInput{}, chat.ErrErased("user")
	}
	s.Room = *room
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

// eachUser returns a callback that reads a user and adds it to the set.
func eachUser(set map[string]bool) func(Row) error {
	var user string
	return func(row Row) error {
		err := row.Scan(&user)
		set[user] = true
		return err
	}
}

// queueStandings makes the batch read the standings of those of the users that are or were members of the room.
// lock is a lock clause, or "".
func queueStandings(d Dialect, b *Batch, standings map[string]chat.Standing, room string, users []string, lock string) {
	var user string
	var st StoredStanding
	into := append([]any{&user}, st.Into()...)
	b.Each(func(row Row) error {
		err := row.Scan(into...)
		standings[user] = st.Standing()
		return err
	}, `select m.user_id, `+StandingColumns+` from members m where m.room_id = $1 and m.user_id `+d.In(2)+` order by m.user_id`+lock, room, d.List(users))
}

// queueRoom makes the batch read the room, also a deleted one. found stays nil if there never was one.
func queueRoom(b *Batch, room, lock string, found **chat.Room) {
	b.Each(func(row Row) error {
		r, err := scanRoom(row)
		*found = &r
		return err
	}, `select `+roomColumns+` from rooms r where r.id = $1`+lock, room)
}

// applyRuling writes what the ruling decides. The rows that readScene has read for the ruling must be locked.
func applyRuling(w Tx, c chat.Change, s chat.RuleInput, r chat.Ruling) (chat.Changed, error) {
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
	var b Batch
	queuePutStandings(w, &b, s.Room, r.Standings, c.At, c.Chosen())
	if r.Room != nil {
		made.Room.Name, made.Room.Announcement = r.Room.Name, r.Room.Announcement
		made.Room.Invite, made.Room.NoGuests = r.Room.Invite, r.Room.NoGuests
		made.Room.NoPackets, made.Room.Frozen = r.Room.NoPackets, r.Room.Frozen
		if r.Room.Deleted {
			made.Room.Deleted, made.Room.Members, made.Role = true, 0, chat.NoRole
			b.Exec(`update members set state = 'gone', role = 'member' where room_id = $1 and user_id = $2`, c.Room, c.By.ID)
			queueGone(w, &b, c.Room)
			w.Events().Room(eventlog.RoomDeleted, c.Room)
		}
		if made.Room.Deleted || made.Room.Name != s.Room.Name {
			queueWords(&b, w, made.Room)
		}
	}
	w.Events().Members(eventlog.MemberJoined, c.Room, made.Entered...)
	w.Events().Members(eventlog.MemberLeft, c.Room, made.Exited...)
	b.Statements = append(b.Statements, useLink(c, r)...)
	for i, e := range r.Entries {
		made.Entries = append(made.Entries, chat.Entry{ID: c.EntryIDs[i], At: c.At, From: c.By, Kind: e.Kind, Body: e.Body})
	}
	if err := queueNotes(w, &b, &made.Room, made.Entries, 0); err != nil {
		return chat.Changed{}, err
	}
	queueUpdateRoom(&b, made.Room, c.At)
	return made, w.Send(&b)
}

// newStanding is what queuePutStandings writes of a standing.
type newStanding struct {
	state  string
	banned bool
	role   chat.Role
	muted  int64
	until  int64 // of the ban
	why    string
}

func newStandingOf(p chat.UserStanding) newStanding {
	n := newStanding{state: stateKicked, banned: p.Standing.Banned, role: cmp.Or(p.Standing.Role, chat.Plain), why: p.Why}
	if p.Standing.In {
		n.state = StateIn
	}
	if !p.Standing.MutedUntil.IsZero() {
		n.muted = p.Standing.MutedUntil.UnixMilli()
	}
	if p.Standing.Banned && !p.Standing.BannedUntil.IsZero() {
		n.until = p.Standing.BannedUntil.UnixMilli()
	}
	return n
}

// queuePutStandings makes the batch write the users' new standings, with one statement for all users that get the same. In Postgres the rows
// are locked, so little time may pass before they are sent. For a user that enters the room, all earlier entries count as read, and chosen says
// whether the room is a chosen room of the user. A user that was never a member gets a new row.
func queuePutStandings(d Dialect, b *Batch, room chat.Room, stand []chat.UserStanding, at time.Time, chosen bool) {
	users := map[newStanding][]string{}
	var order []newStanding
	for _, p := range stand {
		n := newStandingOf(p)
		if users[n] == nil {
			order = append(order, n)
		}
		users[n] = append(users[n], p.User)
	}
	for _, n := range order {
		b.Exec(`insert into members as m (room_id, user_id, state, banned, role, muted_until, read_seq, joined_at, joined_seq, chosen, banned_until, ban_reason)
			select $1, value, $3, $4, $5, $6, $7, $8, $7, $9, $10, $11 from `+d.Values(2)+` l where true
			on conflict (room_id, user_id) do update set
				state = case when 'in' in (m.state, excluded.state) then excluded.state else m.state end,
				banned = excluded.banned, role = excluded.role, muted_until = excluded.muted_until,
				banned_until = excluded.banned_until,
				ban_reason = case when excluded.banned and excluded.ban_reason = '' then m.ban_reason else excluded.ban_reason end,
				read_seq = case when m.state <> 'in' and excluded.state = 'in' then excluded.read_seq else m.read_seq end,
				joined_at = case when m.state <> 'in' and excluded.state = 'in' then excluded.joined_at else m.joined_at end,
				joined_seq = case when m.state <> 'in' and excluded.state = 'in' then excluded.joined_seq else m.joined_seq end,
				chosen = case when m.state <> 'in' and excluded.state = 'in' then excluded.chosen else m.chosen end`,
			room.ID, d.List(users[n]), n.state, n.banned, n.role, n.muted, room.LastSeq, at.UnixMilli(), chosen, n.until, n.why)
	}
}

// queueUpdateRoom makes the batch write the new state of the room, which must be locked.
func queueUpdateRoom(b *Batch, r chat.Room, at time.Time) {
	deleted := int64(0)
	if r.Deleted {
		deleted = at.UnixMilli()
	}
	b.Exec(`update rooms set name = $2, announcement = $3, members = $4, last_seq = $5, deleted_at = $6, invite = $7, guests = $8, packets = $9, frozen = $10
		where id = $1`,
		r.ID, r.Name, r.Announcement, r.Members, r.LastSeq, deleted, r.Invite, !r.NoGuests, !r.NoPackets, r.Frozen)
}
