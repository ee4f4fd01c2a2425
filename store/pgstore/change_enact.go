package pgstore

import (
	"cmp"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

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
	if err := w.queueNotes(&b, &made.Room, made.Entries, 0); err != nil {
		return chat.Changed{}, err
	}
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
