package chat

import "context"

// Join puts the user into a public room. One who is in already hears the same.
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
	s.Forget(room, u.ID) // whatever came of it
	s.tellMoved(room, err, u.ID)
	if err != nil || !changed {
		return m, err
	}
	s.pub.ToUser(u.ID, Entered{Membership: m})
	s.counting.changed(room, m.Room.Members)
	return m, nil
}

// Leave takes the user out of a room. One who is out already hears the same.
func (s *Service) Leave(ctx context.Context, u User, room string) error {
	if err := checkID("room", room); err != nil {
		return err
	}
	now := s.now()
	left, err := s.store.Leave(ctx, Leaving{Room: room, User: u, At: now, EntryIDs: [2]string{s.newID(now), s.newID(now)}})
	s.Forget(room, u.ID) // whatever came of it
	s.tellMoved(room, err, u.ID)
	if err != nil || !left.Changed {
		return err
	}
	if left.Heir != "" {
		s.Forget(room, left.Heir)
		s.pub.Moved(room, left.Heir)
	}
	for _, e := range left.Entries {
		s.pub.Entry(e)
	}
	s.pub.ToUser(u.ID, Gone{Room: room, Reason: "left", Through: left.through()})
	s.counting.changed(room, left.Room.Members)
	return nil
}

// through is the entry that tells that the user has left, where there is one.
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
