package chat

import (
	"context"
	"strings"
)

// Standing of a user to a room, from memory where possible. It is exact for every change made by this Service.
func (s *Service) Standing(ctx context.Context, room, user string) (Standing, error) {
	at := seat{room, user}
	st, version, ok := s.standings.get(at)
	if ok {
		return st, nil
	}
	st, err := s.store.Standing(ctx, room, user)
	if err != nil {
		return Standing{}, err
	}
	if st.Ever { // strangers are not remembered: made-up ids would push out the members
		s.standings.put(seat{strings.Clone(room), strings.Clone(user)}, st, version)
	}
	return st, nil
}

// mayRead says whether the user may see the room.
func (s *Service) mayRead(ctx context.Context, room, user string) error {
	if err := checkID("room", room); err != nil {
		return err
	}
	st, err := s.Standing(ctx, room, user)
	if err != nil {
		return err
	}
	return st.MayRead()
}
