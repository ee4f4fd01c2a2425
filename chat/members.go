package chat

import "context"

// Join adds the user to a public room. A repeated Join returns the same result.
func (s *Service) Join(ctx context.Context, u User, room string) (Membership, error) {
	if err := checkID("room", room); err != nil {
		return Membership{}, err
	}
	if err := s.SignIn(ctx, u); err != nil {
		return Membership{}, err
	}
	m, changed, err := s.store.Join(ctx, Joining{
		Room: room, User: u.ID, At: s.now(), MaxRooms: s.limits.Rooms, MaxMembers: s.limits.RoomMembers,
	})
	s.Forget(room, u.ID) // also after an error: the outcome may be unknown
	s.announceStandings(room, err, u.ID)
	if err != nil || !changed {
		return m, err
	}
	s.pub.ToUser(u.ID, Entered{Membership: m})
	s.memberCounts.changed(room, m.Room.Members)
	return m, nil
}

// Leave removes the user from a room. A repeated Leave succeeds.
func (s *Service) Leave(ctx context.Context, u User, room string) error {
	if err := checkID("room", room); err != nil {
		return err
	}
	now := s.now()
	left, err := s.store.Leave(ctx, Leaving{Room: room, User: u, At: now, EntryIDs: [2]string{s.newID(now), s.newID(now)}})
	s.Forget(room, u.ID) // also after an error: the outcome may be unknown
	s.announceStandings(room, err, u.ID)
	if err != nil || !left.Changed {
		return err
	}
	if left.NewOwner != "" {
		s.Forget(room, left.NewOwner)
		s.pub.StandingChanged(room, left.NewOwner)
	}
	for _, e := range left.Entries {
		s.pub.Entry(e)
	}
	s.pub.ToUser(u.ID, Exited{Room: room, Reason: "left", Through: left.through()})
	s.memberCounts.changed(room, left.Room.Members)
	return nil
}

// through returns the seq of the entry that records the leaving, or 0 if there is none.
func (l Left) through() int64 {
	if l.Room.Kind == Public || len(l.Entries) == 0 {
		return 0
	}
	return l.Entries[0].Seq
}

// Members lists the members of one of the user's rooms, owner and admins first.
func (s *Service) Members(ctx context.Context, user, room, next string, limit int) (members []Member, more string, err error) {
	if limit, err = pageLimit(limit); err != nil {
		return nil, "", err
	}
	if err := s.mayRead(ctx, room, user); err != nil {
		return nil, "", err
	}
	return s.store.Members(ctx, room, next, limit)
}
