package tables

import (
	"context"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// Leave implements chat.Store.
func (t Tables) Leave(ctx context.Context, l chat.Leaving) (chat.Left, error) {
	return write(ctx, t.db, "leave room", func(w Tx, before chat.Left) (chat.Left, error) {
		left, err := leave(w, l)
		if err == nil && !left.Changed && w.Again() && before.Changed {
			return leftBefore(w, left, before)
		}
		return left, err
	})
}

func leave(w Tx, l chat.Leaving) (left chat.Left, err error) {
	st, err := ReadStanding(w, l.Room, l.User.ID)
	if err != nil {
		return chat.Left{}, err
	}
	if !st.Ever || st.RoomDeleted {
		return chat.Left{}, st.MayRead()
	}
	if st.In {
		if left, err = removeMember(w, l, st.Role); err != nil {
			return chat.Left{}, err
		}
	}
	left.Changed = st.In
	left.Room, err = ReadRoom(w, l.Room)
	return left, err
}

// leftBefore returns the result of an earlier run of this call, if that was committed. If the run made no entries, a
// concurrent leave from another device looks the same. Both calls then report the change, which is harmless.
func leftBefore(w Tx, now, before chat.Left) (chat.Left, error) {
	if len(before.Entries) > 0 {
		if mine, err := committedBefore(w, before.Entries...); err != nil || !mine {
			return now, err
		}
	}
	before.Room = now.Room
	return before, nil
}

// removeMember marks the member as left and appends the entries about it. It locks the leaving member, the heir if
// the owner leaves, and then the room. If one of these has changed since it was read, it returns ErrRetry.
func removeMember(w Tx, l chat.Leaving, role chat.Role) (left chat.Left, err error) {
	if left.NewOwner, err = lockHeir(w, l, role); err != nil {
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
	w.Events().Members(eventlog.MemberLeft, l.Room, l.User.ID)
	if _, err := w.Exec(`update rooms set members = members - 1 where id = $1`, l.Room); err != nil {
		return chat.Left{}, err
	}
	room, err := ReadRoom(w, l.Room)
	if err != nil {
		return chat.Left{}, err
	}
	if room.Deleted || role == chat.Owner && room.Members > 0 && left.NewOwner == "" {
		return chat.Left{}, ErrRetry // just now the room was deleted, or a user has joined
	}
	left.Entries, err = appendLeaveEntries(w, l, room.Kind, left.NewOwner)
	return left, err
}

// lockHeir locks the leaving member. If that is the owner, it also locks the heir: the admin that joined first or,
// without admins, the member that joined first. It returns "" if the leaving member is not the owner, or is the only
// member.
func lockHeir(w Tx, l chat.Leaving, role chat.Role) (heir string, err error) {
	held := []string{l.User.ID}
	if role == chat.Owner {
		if heir, err = nextOwner(w, l); err != nil {
			return "", err
		}
		if heir != "" {
			held = append(held, heir)
		}
	}
	if _, err := List(w, ScanText, `select user_id from members where room_id = $1 and user_id `+w.In(2)+`
		order by user_id`+w.Lock(), l.Room, w.List(held)); err != nil {
		return "", err
	}
	now, err := ReadStanding(w, l.Room, l.User.ID)
	if err != nil {
		return "", err
	}
	if !now.In || now.Role != role {
		return "", ErrRetry
	}
	if role != chat.Owner {
		return "", nil
	}
	still, err := nextOwner(w, l)
	if err == nil && still != heir {
		err = ErrRetry
	}
	return heir, err
}

// nextOwner returns the heir that lockHeir must lock, or "" if there is no other member. It can sort by role, because
// 'admin' comes before 'member'.
func nextOwner(w Tx, l chat.Leaving) (heir string, err error) {
	_, err = w.Row(`select user_id from members where room_id = $1 and state = 'in' and user_id <> $2
		order by role, joined_at, user_id limit 1`, []any{l.Room, l.User.ID}, &heir)
	return heir, err
}

// appendLeaveEntries appends an entry about the member that leaves, except in a public room, and one about the heir.
func appendLeaveEntries(w Tx, l chat.Leaving, kind chat.RoomKind, heir string) (entries []chat.Entry, err error) {
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
		e, err := AppendEntry(w, chat.Entry{
			Room: l.Room, ID: l.EntryIDs[i], At: l.At, From: l.User, Kind: chat.KindMember, Body: body,
		}, nil)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}
