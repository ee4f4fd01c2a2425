package pgstore

import (
	"context"

	"hongbao/chat"
)

// Leave implements chat.Store.
func (s *Store) Leave(ctx context.Context, l chat.Leaving) (left chat.Left, err error) {
	var before chat.Left // what the last run has done, if it was committed
	err = s.tx(ctx, func(w *writer) error {
		left, err = w.leave(l)
		if err == nil && !left.Changed && w.again && before.Changed {
			left, err = w.leftBefore(left, before)
		}
		if err == nil {
			before = left
		}
		return err
	})
	if err != nil {
		return chat.Left{}, outcome("leave room", err)
	}
	return left, nil
}

func (w *writer) leave(l chat.Leaving) (left chat.Left, err error) {
	st, err := readStanding(w, l.Room, l.User.ID)
	if err != nil {
		return chat.Left{}, err
	}
	if !st.Ever || st.Gone {
		return chat.Left{}, st.MayRead()
	}
	if st.In {
		if left, err = w.takeOut(l, st.Role); err != nil {
			return chat.Left{}, err
		}
	}
	left.Changed = st.In
	left.Room, err = readRoom(w, l.Room)
	return left, err
}

// leftBefore tells what an earlier run of this very call has done. One that made no entries cannot be told
// from another device's that came in between: then both say that they did it, which hurts nobody.
func (w *writer) leftBefore(now, before chat.Left) (chat.Left, error) {
	if len(before.Entries) > 0 {
		if mine, err := w.kept(before.Entries...); err != nil || !mine {
			return now, err
		}
	}
	before.Room = now.Room
	return before, nil
}

// takeOut marks the member as gone and makes the entries that tell the others. It locks him and his heir, if he
// needs one, and then the room; where those are not the ones any more whom it saw before, it is run again.
func (w *writer) takeOut(l chat.Leaving, role chat.Role) (left chat.Left, err error) {
	if left.Heir, err = w.holdHeir(l, role); err != nil {
		return chat.Left{}, err
	}
	if _, err := w.exec(`update members set state = 'left', role = 'member' where room_id = $1 and user_id = $2`,
		l.Room, l.User.ID); err != nil {
		return chat.Left{}, err
	}
	if left.Heir != "" { // whose mute nobody could lift
		if _, err := w.exec(`update members set role = 'owner', muted_until = 0 where room_id = $1 and user_id = $2`, l.Room, left.Heir); err != nil {
			return chat.Left{}, err
		}
	}
	if _, err := w.exec(`update rooms set members = members - 1 where id = $1`, l.Room); err != nil {
		return chat.Left{}, err
	}
	room, err := readRoom(w, l.Room)
	if err != nil {
		return chat.Left{}, err
	}
	if role == chat.Owner && room.Members > 0 && left.Heir == "" {
		return chat.Left{}, errAgain // someone has come in just now
	}
	left.Entries, err = w.tellLeft(l, room.Kind, left.Heir)
	return left, err
}

// holdHeir locks the one who leaves and, for an owner, the one who shall follow: the longest-standing admin, else member.
func (w *writer) holdHeir(l chat.Leaving, role chat.Role) (heir string, err error) {
	held := []string{l.User.ID}
	if role == chat.Owner {
		if heir, err = w.nextOwner(l); err != nil {
			return "", err
		}
		if heir != "" {
			held = append(held, heir)
		}
	}
	if _, err := rows(w, scanText, `select user_id from members where room_id = $1 and user_id = any($2)
		order by user_id for update`, l.Room, held); err != nil {
		return "", err
	}
	now, err := readStanding(w, l.Room, l.User.ID)
	if err != nil {
		return "", err
	}
	if !now.In || now.Role != role {
		return "", errAgain
	}
	if role != chat.Owner {
		return "", nil
	}
	still, err := w.nextOwner(l)
	if err == nil && still != heir {
		err = errAgain
	}
	return heir, err
}

// nextOwner is who would follow the owner. The order of members_list is just that: 'admin' sorts before 'member'.
func (w *writer) nextOwner(l chat.Leaving) (heir string, err error) {
	_, err = w.row(`select user_id from members where room_id = $1 and state = 'in' and user_id <> $2
		order by role, joined_at, user_id limit 1`, []any{l.Room, l.User.ID}, &heir)
	return heir, err
}

// tellLeft makes the entries that tell the others.
func (w *writer) tellLeft(l chat.Leaving, kind chat.RoomKind, heir string) (entries []chat.Entry, err error) {
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
		e, err := w.appendEntry(chat.Entry{
			Room: l.Room, ID: l.EntryIDs[i], At: l.At, From: l.User, Kind: chat.KindMember, Body: body,
		})
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}
