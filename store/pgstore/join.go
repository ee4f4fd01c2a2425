package pgstore

import (
	"context"
	"errors"

	"hongbao/chat"
	"hongbao/store/tables"
)

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
