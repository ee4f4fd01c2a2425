package sqlitestore

import (
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// entering is a user that is about to enter a room. Everything has been checked except the user's limit of rooms.
type entering struct {
	room, user string
	role       chat.Role
	at         time.Time
	chosen     bool // by the user
	maxRooms   int  // limit of countedRooms
}

// countedRooms selects, from the memberships of a user, the number to compare with the limit of rooms before the user enters
// one more. $4 is the limit. If $3 is set, the user chooses the new room, and only chosen rooms count.
//
// Otherwise others put the user into the room, and the rooms that the user has not chosen count. Writing into a room makes it
// chosen, so others could then add the user to rooms without end. To prevent that, the number is at least that of all rooms
// minus the limit.
const countedRooms = `iif($3, count(*) filter (where chosen), max(count(*) filter (where not chosen), count(*) - $4))`

// enter adds the user to the room. Earlier entries count as read. A mute from an earlier membership stays, but not
// for a new owner, because no member could end it.
func (w *writer) enter(e entering) error {
	var rooms int
	if _, err := w.Row(`select `+countedRooms+` from members where user_id = $1 and state = 'in' and room_id <> $2`,
		[]any{e.user, e.room, e.chosen, e.maxRooms}, &rooms); err != nil {
		return err
	}
	if rooms >= e.maxRooms {
		return chat.ErrLimitExceeded
	}
	if _, err := w.Exec(`insert into members (room_id, user_id, state, role, read_seq, joined_at, joined_seq, chosen)
		select id, ?, 'in', ?, last_seq, ?, last_seq, ? from rooms where id = ?
		on conflict (room_id, user_id) do update set
			state = 'in', banned = 0, banned_until = 0, ban_reason = '', role = excluded.role, read_seq = excluded.read_seq, joined_at = excluded.joined_at,
			joined_seq = excluded.joined_seq, chosen = excluded.chosen, muted_until = case excluded.role when 'owner' then 0 else members.muted_until end`,
		e.user, e.role, e.at.UnixMilli(), e.chosen, e.room); err != nil {
		return err
	}
	w.refs.Members(eventlog.MemberJoined, e.room, e.user)
	_, err := w.Exec(`update rooms set members = members + 1 where id = ?`, e.room)
	return err
}
