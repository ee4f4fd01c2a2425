package sqlitestore

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
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

// knownUser fails if there is no user with this id.
func (w *writer) knownUser(id string) error {
	found, err := w.Row(`select 1 from users where id = ?`, []any{id}, new(int))
	if err == nil && !found {
		return &chat.FieldError{Err: chat.ErrNotFound, Field: "members", Reason: "has a user whom nobody knows: " + id}
	}
	return err
}

// Standing implements chat.Store.
func (s *Store) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	st, err := tables.ReadStanding(s.reader(ctx), room, user)
	return st, tables.Outcome("read standing", err)
}

// Join implements chat.Store.
func (s *Store) Join(ctx context.Context, j chat.Joining) (m chat.Membership, changed bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		m, changed, err = w.join(j)
		return err
	})
	if err != nil {
		return chat.Membership{}, false, tables.Outcome("join room", err)
	}
	return m, changed, nil
}

func (w *writer) join(j chat.Joining) (m chat.Membership, changed bool, err error) {
	room, err := tables.ReadRoom(w, j.Room)
	if err != nil {
		return chat.Membership{}, false, err
	}
	st, err := tables.ReadStanding(w, j.Room, j.User)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if !st.In {
		if err := j.Refusal(room, st); err != nil {
			return chat.Membership{}, false, err
		}
		if err := tables.EnsureUser(w, j.User); err != nil {
			return chat.Membership{}, false, err
		}
		role := chat.Plain
		if room.Members == 0 {
			role = chat.Owner // all members had left; a room with members has an owner
		}
		if err := w.enter(entering{room: j.Room, user: j.User, role: role, at: j.At, chosen: true, maxRooms: j.MaxRooms}); err != nil {
			return chat.Membership{}, false, err
		}
	}
	m, err = tables.ReadMembership(w, j.Room, j.User)
	return m, !st.In, err
}

// Leave implements chat.Store.
func (s *Store) Leave(ctx context.Context, l chat.Leaving) (left chat.Left, err error) {
	err = s.do(ctx, func(w *writer) error {
		left, err = w.leave(l)
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
		if left, err = w.takeOut(l, st.Role); err != nil {
			return chat.Left{}, err
		}
	}
	left.Changed = st.In
	left.Room, err = tables.ReadRoom(w, l.Room)
	return left, err
}

// takeOut marks the member as left and appends the entries about it.
func (w *writer) takeOut(l chat.Leaving, role chat.Role) (left chat.Left, err error) {
	if _, err := w.Exec(`update members set state = 'left', role = 'member' where room_id = ? and user_id = ?`,
		l.Room, l.User.ID); err != nil {
		return chat.Left{}, err
	}
	w.refs.Members(eventlog.MemberLeft, l.Room, l.User.ID)
	if _, err := w.Exec(`update rooms set members = members - 1 where id = ?`, l.Room); err != nil {
		return chat.Left{}, err
	}
	room, err := tables.ReadRoom(w, l.Room)
	if err != nil {
		return chat.Left{}, err
	}
	var changes []chat.MemberChange
	if room.Kind != chat.Public {
		changes = append(changes, chat.MemberChange{User: l.User.ID, Change: "left_private", By: l.User.ID})
	}
	if role == chat.Owner && room.Members > 0 {
		if left.NewOwner, err = w.promoteSuccessor(l.Room); err != nil {
			return chat.Left{}, err
		}
		changes = append(changes, chat.MemberChange{User: left.NewOwner, Change: "role", By: l.User.ID, Role: chat.Owner})
	}
	for i, c := range changes {
		body, err := chat.Body(c)
		if err != nil {
			return chat.Left{}, err
		}
		e, err := tables.AppendEntry(w, chat.Entry{
			Room: l.Room, ID: l.EntryIDs[i], At: l.At, From: l.User, Kind: chat.KindMember, Body: body,
		}, nil)
		if err != nil {
			return chat.Left{}, err
		}
		left.Entries = append(left.Entries, e)
	}
	return left, nil
}

// promoteSuccessor makes the admin that joined first the owner or, without admins, the member that joined first. It
// ends the new owner's mute, because no member could do so. It can sort by role, because 'admin' comes before 'member'.
func (w *writer) promoteSuccessor(room string) (owner string, err error) {
	_, err = w.Row(`update members set role = 'owner', muted_until = 0 where room_id = ? and user_id = (
			select user_id from members where room_id = ? and state = 'in' order by role, joined_at, user_id limit 1)
		returning user_id`, []any{room, room}, &owner)
	return owner, err
}
