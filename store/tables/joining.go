package tables

import (
	"context"
	"errors"
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
const countedRooms = `case when $2 then count(*) filter (where chosen)
	when count(*) filter (where chosen) < $3 then count(*) filter (where not chosen) else count(*) - $3 end`

// addMember adds the user to the room. It returns chat.ErrErased if the user was erased, and chat.ErrLimitExceeded if the user is in too many rooms. Earlier
// entries count as read, and a ban ends. A mute from an earlier membership stays, but not for a new owner, because no
// member could lift it.
func addMember(w Tx, e admission) error {
	var rooms int
	var gone bool
	if _, err := w.Row(`select `+countedRooms+`, exists (select 1 from users where id = $1 and erased_at > 0) from members where user_id = $1 and state = 'in'`,
		[]any{e.user, e.chosen, e.maxRooms}, &rooms, &gone); err != nil {
		return err
	}
	if gone {
		return chat.ErrErased("user")
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
	w.Events().Members(eventlog.MemberJoined, e.room, e.user)
	_, err := w.Exec(`update rooms set members = members + 1 where id = $1`, e.room)
	return err
}

// lockUsers locks those of the users that exist and are not erased, and returns them. A user is locked before entering a room, by joining or by
// being added, so that the limit of the user's rooms can be checked.
func lockUsers(w Tx, ids []string) (known map[string]bool, err error) {
	locked, err := List(w, ScanText, `select id from users where id `+w.In(1)+` and erased_at = 0 order by id`+w.Lock(), w.List(ids))
	known = make(map[string]bool, len(locked))
	for _, id := range locked {
		known[id] = true
	}
	return known, err
}

// Join implements chat.Store.
func (t Tables) Join(ctx context.Context, j chat.Joining) (m chat.Membership, changed bool, err error) {
	err = t.db.Write(ctx, func(w Tx) error {
		m, changed, err = join(w, j)
		return err
	})
	if err != nil {
		return chat.Membership{}, false, Outcome("join room", err)
	}
	return m, changed, nil
}

// join first looks without locks, because in most calls the user is a member already or may not join.
func join(w Tx, j chat.Joining) (m chat.Membership, changed bool, err error) {
	room, err := ReadRoom(w, j.Room)
	if err != nil {
		return chat.Membership{}, false, err
	}
	st, err := ReadStanding(w, j.Room, j.User)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if st.In {
		changed, err = joinedBefore(w, j)
	} else if err = j.Refusal(room, st); err == nil {
		changed, err = joinUnderLock(w, j)
	}
	if err != nil {
		return chat.Membership{}, false, err
	}
	m, err = readMembership(w, j.Room, j.User)
	if errors.Is(err, chat.ErrNotMember) {
		err = ErrRetry // the user was a member when it was checked and has been removed since
	}
	return m, changed, err
}

// joinedBefore reports whether an earlier run of this call has added the user.
func joinedBefore(w Tx, j chat.Joining) (mine bool, err error) {
	if !w.Again() {
		return false, nil
	}
	return w.Row(`select 1 from members where room_id = $1 and user_id = $2 and joined_at = $3`,
		[]any{j.Room, j.User, j.At.UnixMilli()}, new(int))
}

// joinUnderLock checks again under locks and adds the user. It returns changed = false if another call has just added
// them.
func joinUnderLock(w Tx, j chat.Joining) (changed bool, err error) {
	if err := EnsureUser(w, j.User); err != nil {
		return false, err
	}
	if _, err := lockUsers(w, []string{j.User}); err != nil {
		return false, err
	}
	st, err := lockStanding(w, j.Room, j.User)
	if err != nil || st.In {
		return false, err
	}
	room, err := LockRoom(w, j.Room)
	if err != nil {
		return false, err
	}
	if err := j.Refusal(room, st); err != nil {
		return false, err
	}
	role := chat.Plain
	if room.Members == 0 {
		role = chat.Owner // all members have left, so the room has no owner
	}
	return true, addMember(w, admission{room: j.Room, user: j.User, role: role, at: j.At, chosen: true, maxRooms: j.MaxRooms})
}
