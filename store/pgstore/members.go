package pgstore

import (
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// admission is a user that is about to enter a room. Everything has been checked except the user's limit of rooms.
// The rows of the user and of the room are locked.
type admission struct {
	room, user string
	role       chat.Role
	at         time.Time
	chosen     bool // by the user
	maxRooms   int  // the limit of rooms: see countedRooms
}

// countedRooms selects, from the memberships of a user, the number to compare with the limit of rooms before the user enters
// one more. $3 is the limit. If $2 is set, the user chooses the new room, and only chosen rooms count.
//
// Otherwise others put the user into the room, and the rooms that the user has not chosen count. Writing into a room makes it
// chosen, so others could then add rooms without end. To prevent that, the number is at least that of all rooms less the limit.
const countedRooms = `case when $2 then count(*) filter (where chosen) else greatest(count(*) filter (where not chosen), count(*) - $3) end`

// addMember adds the user to the room, or returns chat.ErrLimitExceeded if the user is in too many rooms. Earlier
// entries count as read, and a ban ends. A mute from an earlier membership stays, but not for a new owner, because no
// member could lift it.
func (w *writer) addMember(e admission) error {
	var rooms int
	if _, err := w.Row(`select `+countedRooms+` from members where user_id = $1 and state = 'in'`,
		[]any{e.user, e.chosen, e.maxRooms}, &rooms); err != nil {
		return err
	}
	if rooms >= e.maxRooms {
		return chat.ErrLimitExceeded
	}
	if _, err := w.Exec(`insert into members (room_id, user_id, state, role, read_seq, joined_at, joined_seq, chosen)
		select id, $1, 'in', $2, last_seq, $3, last_seq, $5 from rooms where id = $4
		on conflict (room_id, user_id) do update set
			state = 'in', banned = false, banned_until = 0, ban_reason = '', role = excluded.role, read_seq = excluded.read_seq, joined_at = excluded.joined_at,
			joined_seq = excluded.joined_seq, chosen = excluded.chosen, muted_until = case excluded.role when 'owner' then 0 else members.muted_until end`,
		e.user, e.role, e.at.UnixMilli(), e.room, e.chosen); err != nil {
		return err
	}
	w.refs.Members(eventlog.MemberJoined, e.room, e.user)
	_, err := w.Exec(`update rooms set members = members + 1 where id = $1`, e.room)
	return err
}
