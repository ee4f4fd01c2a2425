package pgstore

import (
	"context"
	"errors"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
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

// lockUsers locks those of the users that exist, and returns them. A user is locked before entering a room, by joining or by
// being added, so that the limit of the user's rooms can be checked.
func (w *writer) lockUsers(ids []string) (known map[string]bool, err error) {
	locked, err := tables.List(w, tables.ScanText, `select id from users where id = any($1) order by id for update`, ids)
	known = make(map[string]bool, len(locked))
	for _, id := range locked {
		known[id] = true
	}
	return known, err
}

// Join implements chat.Store.
func (s *Store) Join(ctx context.Context, j chat.Joining) (m chat.Membership, changed bool, err error) {
	err = s.tx(ctx, func(w *writer) error {
		m, changed, err = w.join(j)
		return err
	})
	if err != nil {
		return chat.Membership{}, false, tables.Outcome("join room", err)
	}
	return m, changed, nil
}

// join first looks without locks, because in most calls the user is a member already or may not join.
func (w *writer) join(j chat.Joining) (m chat.Membership, changed bool, err error) {
	room, err := tables.ReadRoom(w, j.Room)
	if err != nil {
		return chat.Membership{}, false, err
	}
	st, err := tables.ReadStanding(w, j.Room, j.User)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if st.In {
		changed, err = w.joinedBefore(j)
	} else if err = j.Refusal(room, st); err == nil {
		changed, err = w.joinUnderLock(j)
	}
	if err != nil {
		return chat.Membership{}, false, err
	}
	m, err = tables.ReadMembership(w, j.Room, j.User)
	if errors.Is(err, chat.ErrNotMember) {
		err = tables.ErrRetry // the user was a member when it was checked and has been removed since
	}
	return m, changed, err
}

// joinedBefore reports whether an earlier run of this call has added the user.
func (w *writer) joinedBefore(j chat.Joining) (mine bool, err error) {
	if !w.maybeCommitted {
		return false, nil
	}
	return w.Row(`select 1 from members where room_id = $1 and user_id = $2 and joined_at = $3`,
		[]any{j.Room, j.User, j.At.UnixMilli()}, new(int))
}

// joinUnderLock checks again under locks and adds the user. It returns changed = false if another call has just added
// them.
func (w *writer) joinUnderLock(j chat.Joining) (changed bool, err error) {
	if err := tables.EnsureUser(w, j.User); err != nil {
		return false, err
	}
	if _, err := w.lockUsers([]string{j.User}); err != nil {
		return false, err
	}
	st, err := tables.LockStanding(w, j.Room, j.User)
	if err != nil || st.In {
		return false, err
	}
	room, err := tables.LockRoom(w, j.Room)
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
	return true, w.addMember(admission{room: j.Room, user: j.User, role: role, at: j.At, chosen: true, maxRooms: j.MaxRooms})
}

// Leave implements chat.Store.
func (s *Store) Leave(ctx context.Context, l chat.Leaving) (left chat.Left, err error) {
	var before chat.Left // result of the previous run of the transaction, which may have been committed
	err = s.tx(ctx, func(w *writer) error {
		left, err = w.leave(l)
		if err == nil && !left.Changed && w.maybeCommitted && before.Changed {
			left, err = w.leftBefore(left, before)
		}
		if err == nil {
			before = left
		}
		return err
	})
	if err != nil {
		return chat.Left{}, tables.Outcome("leave room", err)
	}
	return left, nil
}

func (w *writer) leave(l chat.Leaving) (left chat.Left, err error) {
	st, err := tables.ReadStanding(w, l.Room, l.User.ID)
	if err != nil {
		return chat.Left{}, err
	}
	if !st.Ever || st.RoomDeleted {
		return chat.Left{}, st.MayRead()
	}
	if st.In {
		if left, err = w.removeMember(l, st.Role); err != nil {
			return chat.Left{}, err
		}
	}
	left.Changed = st.In
	left.Room, err = tables.ReadRoom(w, l.Room)
	return left, err
}

// leftBefore returns the result of an earlier run of this call, if that was committed. If the run made no entries, a
// concurrent leave from another device looks the same. Both calls then report the change, which is harmless.
func (w *writer) leftBefore(now, before chat.Left) (chat.Left, error) {
	if len(before.Entries) > 0 {
		if mine, err := tables.CommittedBefore(w, before.Entries...); err != nil || !mine {
			return now, err
		}
	}
	before.Room = now.Room
	return before, nil
}

// removeMember marks the member as left and appends the entries about it. It locks the leaving member, the heir if
// the owner leaves, and then the room. If one of these has changed since it was read, it returns tables.ErrRetry.
func (w *writer) removeMember(l chat.Leaving, role chat.Role) (left chat.Left, err error) {
	if left.NewOwner, err = w.lockHeir(l, role); err != nil {
		return chat.Left{}, err
	}
	if _, err := w.Exec(`update members set state = 'left', role = 'member' where room_id = $1 and user_id = $2`,
		l.Room, l.User.ID); err != nil {
		return chat.Left{}, err
	}
	if left.NewOwner != "" { // unmutes the new owner: no member could lift an owner's mute
		if _, err := w.Exec(`update members set role = 'owner', muted_until = 0 where room_id = $1 and user_id = $2`, l.Room, left.NewOwner); err != nil {
			return chat.Left{}, err
		}
	}
	w.refs.Members(eventlog.MemberLeft, l.Room, l.User.ID)
	if _, err := w.Exec(`update rooms set members = members - 1 where id = $1`, l.Room); err != nil {
		return chat.Left{}, err
	}
	room, err := tables.ReadRoom(w, l.Room)
	if err != nil {
		return chat.Left{}, err
	}
	if role == chat.Owner && room.Members > 0 && left.NewOwner == "" {
		return chat.Left{}, tables.ErrRetry // a user has joined just now
	}
	left.Entries, err = w.appendLeaveEntries(l, room.Kind, left.NewOwner)
	return left, err
}

// lockHeir locks the leaving member. If that is the owner, it also locks the heir: the admin that joined first or,
// without admins, the member that joined first. It returns "" if the leaving member is not the owner, or is the only
// member.
func (w *writer) lockHeir(l chat.Leaving, role chat.Role) (heir string, err error) {
	held := []string{l.User.ID}
	if role == chat.Owner {
		if heir, err = w.nextOwner(l); err != nil {
			return "", err
		}
		if heir != "" {
			held = append(held, heir)
		}
	}
	if _, err := tables.List(w, tables.ScanText, `select user_id from members where room_id = $1 and user_id = any($2)
		order by user_id for update`, l.Room, held); err != nil {
		return "", err
	}
	now, err := tables.ReadStanding(w, l.Room, l.User.ID)
	if err != nil {
		return "", err
	}
	if !now.In || now.Role != role {
		return "", tables.ErrRetry
	}
	if role != chat.Owner {
		return "", nil
	}
	still, err := w.nextOwner(l)
	if err == nil && still != heir {
		err = tables.ErrRetry
	}
	return heir, err
}

// nextOwner returns the heir that lockHeir must lock, or "" if there is no other member. It can sort by role, because
// 'admin' comes before 'member'.
func (w *writer) nextOwner(l chat.Leaving) (heir string, err error) {
	_, err = w.Row(`select user_id from members where room_id = $1 and state = 'in' and user_id <> $2
		order by role, joined_at, user_id limit 1`, []any{l.Room, l.User.ID}, &heir)
	return heir, err
}

// appendLeaveEntries appends an entry about the member that leaves, except in a public room, and one about the heir.
func (w *writer) appendLeaveEntries(l chat.Leaving, kind chat.RoomKind, heir string) (entries []chat.Entry, err error) {
	var changes []chat.MemberChange
	if kind != chat.Public {
		changes = append(changes, chat.MemberChange{User: l.User.ID, Change: "left_private", By: l.User.ID})
	}
	if heir != "" {
		changes = append(changes, chat.MemberChange{User: heir, Change: "role", By: l.User.ID, Role: chat.Owner})
	}
	for i, c := range changes {
		body, err := chat.Body(c)
		if err != nil {
			return nil, err
		}
		e, err := tables.AppendEntry(w, chat.Entry{
			Room: l.Room, ID: l.EntryIDs[i], At: l.At, From: l.User, Kind: chat.KindMember, Body: body,
		}, nil)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}
