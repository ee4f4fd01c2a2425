package chat

import (
	"context"
	"errors"
)

// Direct gives the room of two people, and puts in who of them is not.
func (s *Service) Direct(ctx context.Context, u User, other string) (Membership, error) {
	if err := checkID("user", other); err != nil {
		return Membership{}, err
	}
	if other == u.ID {
		return Membership{}, BadField("user", "must be another one")
	}
	if err := s.SignIn(ctx, u); err != nil {
		return Membership{}, err
	}
	now := s.now()
	done, err := s.store.Direct(ctx, Pairing{
		ID: s.newID(now), Asker: u, Other: other, At: now, EntryIDs: [2]string{s.newID(now), s.newID(now)}, MaxRooms: s.limits.Rooms,
	})
	if errors.Is(err, ErrUnavailable) { // one may have come back, and which room it is nobody knows
		s.standings.clear()
		s.tellMoved("", err, u.ID, other)
	}
	if err != nil {
		return Membership{}, err
	}
	s.Forget(done.Membership.Room.ID, u.ID)
	s.Forget(done.Membership.Room.ID, other)
	s.tellMoved(done.Membership.Room.ID, nil, u.ID, other)
	s.tellPaired(done)
	return done.Membership, nil
}

func (s *Service) tellPaired(done Paired) {
	room := done.Membership.Room
	s.tellEntered(done.Entered, room, done.Entries)
	for _, e := range done.Entries {
		s.pub.Entry(e)
	}
	if len(done.Entered) > 0 {
		s.counting.changed(room.ID, room.Members)
	}
}
