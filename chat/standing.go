package chat

import (
	"context"
	"strings"
	"unicode/utf8"
)

// Standing of a user to a room, from memory where possible. It is exact for every change made by this Service; a
// change made by another one is seen when its word has come (Publisher.Moved, Forget). Of a deleted room it says of
// everyone that he was in it: nothing hangs on that any more.
func (s *Service) Standing(ctx context.Context, room, user string) (Standing, error) {
	st, version, ok := s.remembered(room, user)
	if ok {
		return st, nil
	}
	if !possible(room) || !ValidUser(user) { // whoever asks together need not suffer
		return Standing{}, nil
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

// possible tells whether a room may be called so.
func possible(room string) bool { return checkID("room", room) == nil && utf8.ValidString(room) }

// Remembered is Standing as far as nobody has to be asked.
func (s *Service) Remembered(room, user string) (st Standing, ok bool) {
	st, _, ok = s.remembered(room, user)
	return st, ok
}

// remembered gives the standing, or else the version to remember it with.
func (s *Service) remembered(room, user string) (st Standing, version uint64, ok bool) {
	if s.deleted.has(room) {
		return Standing{Ever: true, Gone: true}, 0, true
	}
	return s.standings.get(seat{room, user})
}

// Forget drops what is remembered and has been changed by another instance: a user's standing to a room; without a room
// the user himself; without a user everybody's, for the room has been deleted.
func (s *Service) Forget(room, user string) {
	switch {
	case room == "":
		s.users.drop(seat{user: user})
	case user != "":
		s.standings.drop(seat{room, user})
	case s.deleted.add(room): // standings to the rooms forgotten for it may still be there
		s.standings.clear()
	}
}

// Deaf says that the words of other instances may be missing from now on (true), or that they come again (false).
// Meanwhile, and of what was before, nothing is believed.
func (s *Service) Deaf(deaf bool) {
	s.standings.rest(deaf)
	s.users.rest(deaf)
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
