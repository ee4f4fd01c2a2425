package sqlitestore

import (
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

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
