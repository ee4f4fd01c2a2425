package chat

import (
	"context"
	"errors"
)

// tellChange tells what a change did: first the other instances, then who came in, so that he is there when the entries
// come; and last who is out, for whom the entry that says so was the last.
func (s *Service) tellChange(c Change, done Changed) {
	if c.Kind == DeleteRoom {
		s.pub.Moved(c.Room, "")
		s.pub.ToRoom(c.Room, Gone{Room: c.Room, Reason: "deleted"})
		return
	}
	s.tellMoved(c.Room, nil, done.Moved...)
	s.tellEntered(done.Entered, done.Room, done.Entries)
	for _, e := range done.Entries {
		s.pub.Entry(e)
	}
	for _, user := range done.Gone {
		s.pub.ToUser(user, Gone{Room: c.Room, Reason: c.reason(), Through: done.Entries[0].Seq})
	}
	if len(done.Entered)+len(done.Gone) > 0 {
		s.counting.changed(c.Room, done.Room.Members)
	}
}

// tellMoved tells the other instances who may stand otherwise. Where nothing was changed, too: it may have been by an
// earlier call, which nobody knew the outcome of, and which is repeated for that.
func (s *Service) tellMoved(room string, err error, users ...string) {
	if err != nil && !errors.Is(err, ErrUnavailable) {
		return
	}
	for _, user := range users {
		s.pub.Moved(room, user)
	}
}

// tellDeletedBefore repeats that a room is no more, for one who was in it and wants it deleted: as above, it may never have
// been told. That he is out is not enough: a large room is emptied before it is deleted.
func (s *Service) tellDeletedBefore(ctx context.Context, c Change) {
	if st, err := s.store.Standing(ctx, c.Room, c.By.ID); err != nil || !st.Gone {
		return
	}
	if room, err := s.store.Room(ctx, c.Room); err != nil || !room.Deleted {
		return
	}
	s.Forget(c.Room, "")
	s.tellChange(c, Changed{})
}

// tellEntered lets users into a room as it was before the entries that say so.
func (s *Service) tellEntered(users []string, r Room, entries []Entry) {
	if len(entries) > 0 {
		r.LastSeq = entries[0].Seq - 1
	}
	for _, user := range users {
		s.pub.ToUser(user, Entered{Membership: Membership{Room: r, Role: Plain, ReadSeq: r.LastSeq}})
	}
}

// reason why those are out whom the change has put out.
func (c Change) reason() string {
	if c.Kind == Ban {
		return "banned"
	}
	return "kicked"
}
