package sqlitestore

import (
	"context"
	"encoding/json"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// Change implements chat.Store.
func (s *Store) Change(ctx context.Context, c chat.Change) (done chat.Changed, err error) {
	err = s.do(ctx, func(w *writer) error {
		done, err = w.change(c)
		return err
	})
	if err != nil {
		return chat.Changed{}, tables.Outcome("change room", err)
	}
	return done, nil
}

func (w *writer) change(c chat.Change) (chat.Changed, error) {
	input, err := w.ruleInput(c)
	if err != nil {
		return chat.Changed{}, err
	}
	ruling, err := c.Rule(input)
	if err != nil {
		return chat.Changed{}, err
	}
	done, err := w.apply(c, input, ruling)
	if err != nil {
		return chat.Changed{}, err
	}
	if done.Room, err = tables.ReadRoom(w, c.Room); err != nil {
		return chat.Changed{}, err
	}
	by, err := tables.ReadStanding(w, c.Room, c.By.ID)
	done.Role = by.Role
	return done, err
}

// ruleInput reads all data that the ruling depends on. None of it can change meanwhile, because there is one writer.
func (w *writer) ruleInput(c chat.Change) (s chat.RuleInput, err error) {
	if s.Room, err = tables.ReadRoom(w, c.Room); err != nil {
		return chat.RuleInput{}, err
	}
	if s.By, err = tables.ReadStanding(w, c.Room, c.By.ID); err != nil || len(c.Users) == 0 {
		return s, err
	}
	list, err := json.Marshal(c.Users)
	if err != nil {
		return chat.RuleInput{}, err
	}
	inviting := c.Kind == chat.Invite
	if c.Kind == chat.JoinLink {
		links, err := tables.List(w, tables.ScanLink, tables.LinkQuery, c.Room, c.Link)
		if err != nil {
			return chat.RuleInput{}, err
		}
		if len(links) > 0 {
			s.Link = &links[0]
		}
		if _, err := w.Row(`select count(*) from join_requests r where r.room_id = ? and `+tables.Unanswered, []any{c.Room}, &s.Asks); err != nil {
			return chat.RuleInput{}, err
		}
	}
	counting := c.Admits() // no other change depends on the number of rooms of its users
	s.Users, err = tables.List(w, userStandingIn(s.Room), `select asked.value, u.id is not null,
			iif($5, (select `+countedRooms+` from members where user_id = asked.value and state = 'in'), 0),
			$6 and asked.value in (select u.id `+tables.Refusing(w)+`), $8 and exists (select 1 from join_requests r where r.room_id = $7 and r.user_id = asked.value and `+tables.Unanswered+`),
			m.state is not null, coalesce(m.state, ''), coalesce(m.banned, false), coalesce(m.role, ''), coalesce(m.muted_until, 0), coalesce(m.joined_seq, 0), coalesce(m.banned_until, 0)
		from json_each($2) asked
		left join users u on u.id = asked.value
		left join members m on m.room_id = $7 and m.user_id = asked.value
		order by asked.key`, c.By.ID, string(list), c.Chosen(), c.MaxRooms, counting, inviting, c.Room, c.AboutRequest())
	return s, err
}

// userStandingIn returns a function that scans the standing of a user. The user may never have been in the room.
func userStandingIn(room chat.Room) func(tables.Row) (chat.UserStanding, error) {
	return func(rs tables.Row) (p chat.UserStanding, err error) {
		var (
			ever bool
			st   tables.StoredStanding
		)
		err = rs.Scan(append([]any{&p.User, &p.Known, &p.Rooms, &p.Refuses, &p.Asks, &ever}, st.Into()...)...)
		if p.Standing = st.Standing(); !ever {
			p.Standing = chat.Standing{Visible: room.Kind == chat.Public && !room.Deleted}
		}
		return p, err
	}
}

// apply writes what the ruling decides. Members are written before entries. So for new members, all entries
// before those that announce them count as read.
func (w *writer) apply(c chat.Change, s chat.RuleInput, r chat.Ruling) (done chat.Changed, err error) {
	done.Refused = r.Refused
	done.Changed = len(r.Standings)+len(r.Entries) > 0 || r.Room != nil || r.Asks || r.Answered
	was := map[string]chat.Standing{c.By.ID: s.By}
	for _, p := range s.Users {
		was[p.User] = p.Standing
	}
	for _, p := range r.Standings {
		if err := w.place(c, p); err != nil {
			return chat.Changed{}, err
		}
		done.Affected = append(done.Affected, p.User)
		switch before := was[p.User]; {
		case p.Standing.In && !before.In:
			done.Entered = append(done.Entered, p.User)
		case before.In && !p.Standing.In:
			done.Exited = append(done.Exited, p.User)
		}
	}
	w.refs.Members(eventlog.MemberJoined, c.Room, done.Entered...)
	w.refs.Members(eventlog.MemberLeft, c.Room, done.Exited...)
	if err := w.count(c.Room, len(done.Entered)-len(done.Exited)); err != nil {
		return chat.Changed{}, err
	}
	if r.Room != nil {
		if err := w.alter(c, *r.Room); err != nil {
			return chat.Changed{}, err
		}
	}
	for _, st := range tables.UseLink(c, r) {
		if _, err := w.Exec(st.Text, st.Args...); err != nil {
			return chat.Changed{}, err
		}
	}
	for i, ruled := range r.Entries {
		e, err := tables.AppendEntry(w, chat.Entry{
			Room: c.Room, ID: c.EntryIDs[i], At: c.At, From: c.By, Kind: ruled.Kind, Body: ruled.Body,
		}, nil)
		if err != nil {
			return chat.Changed{}, err
		}
		done.Entries = append(done.Entries, e)
	}
	return done, nil
}

// place writes the user's standing in the room. For a user that enters, earlier entries count as read. A user that
// was never in the room and is banned gets a row, too.
func (w *writer) place(c chat.Change, p chat.UserStanding) error {
	state, role, muted := tables.StateIn, p.Standing.Role, int64(0)
	if !p.Standing.In {
		state, role = tables.StateKicked, chat.Plain
	}
	if !p.Standing.MutedUntil.IsZero() {
		muted = p.Standing.MutedUntil.UnixMilli()
	}
	end := int64(0)
	if p.Standing.Banned && !p.Standing.BannedUntil.IsZero() {
		end = p.Standing.BannedUntil.UnixMilli()
	}
	_, err := w.Exec(`insert into members (room_id, user_id, state, banned, role, muted_until, read_seq, joined_at, joined_seq, chosen, banned_until, ban_reason)
		select id, ?1, ?2, ?3, ?4, ?5, iif(?2 = 'in', last_seq, 0), ?6, last_seq, ?8, ?9, ?10 from rooms where id = ?7
		on conflict (room_id, user_id) do update set
			state = iif(excluded.state = 'in' or state = 'in', excluded.state, state),
			read_seq = iif(excluded.state = 'in' and state <> 'in', excluded.read_seq, read_seq),
			joined_at = iif(excluded.state = 'in' and state <> 'in', excluded.joined_at, joined_at),
			joined_seq = iif(excluded.state = 'in' and state <> 'in', excluded.joined_seq, joined_seq),
			chosen = iif(excluded.state = 'in' and state <> 'in', excluded.chosen, chosen),
			banned_until = excluded.banned_until,
			ban_reason = iif(excluded.banned and excluded.ban_reason = '', ban_reason, excluded.ban_reason),
			banned = excluded.banned, role = excluded.role, muted_until = excluded.muted_until`,
		p.User, state, p.Standing.Banned, role, muted, c.At.UnixMilli(), c.Room, c.Chosen(), end, p.Why)
	return err
}

// count adds more, which may be negative, to the room's number of members.
func (w *writer) count(room string, more int) error {
	if more == 0 {
		return nil
	}
	_, err := w.Exec(`update rooms set members = members + ? where id = ?`, more, room)
	return err
}

// alter writes the room's name, announcement and settings, or deletes the room.
func (w *writer) alter(c chat.Change, to chat.Room) error {
	if to.Deleted {
		return w.deleteRoom(c.Room, c.At)
	}
	_, err := w.Exec(`update rooms set name = ?, announcement = ?, invite = ?, guests = ?, frozen = ? where id = ?`,
		to.Name, to.Announcement, to.Invite, !to.NoGuests, to.Frozen, c.Room)
	return err
}

// deleteRoom marks the room as deleted. It keeps all rows, because keys, entries and packets still refer to the room.
func (w *writer) deleteRoom(room string, at time.Time) error {
	if _, err := w.Exec(`update members set state = ?, role = 'member' where room_id = ?`, tables.StateGone, room); err != nil {
		return err
	}
	w.refs.Room(eventlog.RoomDeleted, room)
	_, err := w.Exec(`update rooms set members = 0, deleted_at = ? where id = ?`, at.UnixMilli(), room)
	return err
}
