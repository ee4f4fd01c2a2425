package chat

import (
	"context"
	"errors"
)

// Direct returns the direct room of two users. It creates the room if there is none, and adds the users that are not
// members.
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
		ID: s.newID(now), User: u, Other: other, At: now, EntryIDs: [2]string{s.newID(now), s.newID(now)}, MaxRooms: s.limits.Rooms,
	})
	if errors.Is(err, ErrUnavailable) { // a user may have come back to the room, whose id is unknown here
		s.standings.clear()
		s.announceStandings("", err, u.ID, other)
	}
	if err != nil {
		return Membership{}, err
	}
	s.Forget(done.Membership.Room.ID, u.ID)
	s.Forget(done.Membership.Room.ID, other)
	s.announceStandings(done.Membership.Room.ID, nil, u.ID, other)
	s.publishPaired(done)
	return done.Membership, nil
}

func (s *Service) publishPaired(done Paired) {
	room := done.Membership.Room
	s.publishEntered(done.Entered, room, done.Entries)
	for _, e := range done.Entries {
		s.pub.Entry(e)
	}
	if len(done.Entered) > 0 {
		s.memberCounts.changed(room.ID, room.Members)
	}
}
