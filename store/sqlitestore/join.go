package sqlitestore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/tables"
)

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
