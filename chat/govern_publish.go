package chat

import (
	"context"
	"errors"
)

// publishChange publishes what a change did, in this order. Other instances are told first. New members are told next,
// so that they are in the room when the entries come. Then come the entries. Members that were removed are told last,
// so that the last entry that they receive is the one that records their removal.
func (s *Service) publishChange(c Change, done Changed) {
	if c.Kind == DeleteRoom {
		s.pub.StandingChanged(c.Room, "")
		s.pub.ToRoom(c.Room, Exited{Room: c.Room, Reason: "deleted"})
		return
	}
	s.announceStandings(c.Room, nil, done.Affected...)
	s.publishEntered(done.Entered, done.Room, done.Entries)
	for _, e := range done.Entries {
		s.pub.Entry(e)
	}
	for _, user := range done.Exited {
		s.pub.ToUser(user, Exited{Room: c.Room, Reason: c.reason(), Through: done.Entries[0].Seq})
	}
	if len(done.Entered)+len(done.Exited) > 0 {
		s.memberCounts.changed(c.Room, done.Room.Members)
	}
}

// announceStandings tells the other instances which users' standing may have changed. It does so even if this call
// changed nothing. This call may repeat an earlier one whose outcome was unknown, and which did change the standings.
func (s *Service) announceStandings(room string, err error, users ...string) {
	if err != nil && !errors.Is(err, ErrUnavailable) {
		return
	}
	for _, user := range users {
		s.pub.StandingChanged(room, user)
	}
}

// republishDeletion publishes again that a room was deleted, when a former member requests the deletion again. The
// first request may have had an unknown outcome, so that it was not published. It checks that the room is deleted: a
// large room loses its members before that.
func (s *Service) republishDeletion(ctx context.Context, c Change) {
	if st, err := s.store.Standing(ctx, c.Room, c.By.ID); err != nil || !st.RoomDeleted {
		return
	}
	if room, err := s.store.Room(ctx, c.Room); err != nil || !room.Deleted {
		return
	}
	s.Forget(c.Room, "")
	s.publishChange(c, Changed{})
}

// publishEntered tells new members about the room, in its state before the entries that record their joining.
func (s *Service) publishEntered(users []string, r Room, entries []Entry) {
	if len(entries) > 0 {
		r.LastSeq = entries[0].Seq - 1
	}
	for _, user := range users {
		s.pub.ToUser(user, Entered{Membership: Membership{Room: r, Role: Plain, ReadSeq: r.LastSeq}})
	}
}

// reason returns the reason that is published to the users that the change has removed.
func (c Change) reason() string {
	if c.Kind == Ban {
		return "banned"
	}
	return "kicked"
}
