package sqlitestore

import (
	"time"

	"hongbao/chat"
)

// place has the user stand as the ruling says. One who comes in has read what was said before; one who was never in
// and is banned gets a row to be banned in.
func (w *writer) place(c chat.Change, p chat.Placed) error {
	state, role, muted := stateIn, p.Standing.Role, int64(0)
	if !p.Standing.In {
		state, role = "kicked", chat.Plain
	}
	if !p.Standing.MutedUntil.IsZero() {
		muted = p.Standing.MutedUntil.UnixMilli()
	}
	_, err := w.exec(`insert into members (room_id, user_id, state, banned, role, muted_until, read_seq, joined_at)
		select id, ?1, ?2, ?3, ?4, ?5, iif(?2 = 'in', last_seq, 0), ?6 from rooms where id = ?7
		on conflict (room_id, user_id) do update set
			state = iif(excluded.state = 'in' or state = 'in', excluded.state, state),
			read_seq = iif(excluded.state = 'in' and state <> 'in', excluded.read_seq, read_seq),
			joined_at = iif(excluded.state = 'in' and state <> 'in', excluded.joined_at, joined_at),
			banned = excluded.banned, role = excluded.role, muted_until = excluded.muted_until`,
		p.User, state, p.Standing.Banned, role, muted, c.At.UnixMilli(), c.Room)
	return err
}

// count notes that there are so many members more.
func (w *writer) count(room string, more int) error {
	if more == 0 {
		return nil
	}
	_, err := w.exec(`update rooms set members = members + ? where id = ?`, more, room)
	return err
}

// alter gives the room its name and announcement, or takes everybody out of it for good.
func (w *writer) alter(c chat.Change, to chat.Room) error {
	if to.Deleted {
		return w.deleteRoom(c.Room, c.At)
	}
	_, err := w.exec(`update rooms set name = ?, announcement = ? where id = ?`, to.Name, to.Announcement, c.Room)
	return err
}

// deleteRoom keeps the rows: keys, entries and packets go on to name the room.
func (w *writer) deleteRoom(room string, at time.Time) error {
	if _, err := w.exec(`update members set state = ?, role = 'member' where room_id = ?`, stateGone, room); err != nil {
		return err
	}
	_, err := w.exec(`update rooms set members = 0, deleted_at = ? where id = ?`, at.UnixMilli(), room)
	return err
}
