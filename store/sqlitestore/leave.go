package sqlitestore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

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
		e, err := w.appendEntry(chat.Entry{
			Room: l.Room, ID: l.EntryIDs[i], At: l.At, From: l.User, Kind: chat.KindMember, Body: body,
		})
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
