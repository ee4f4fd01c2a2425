package chat

import (
	"cmp"
	"context"
	"time"
)

// Receipt names the entry that records a message.
type Receipt struct {
	Seq int64
	ID  string
	At  time.Time
	Dup bool // the same message was sent with this key before
}

// Send appends a text to a room and publishes it. A repeated key returns the first entry.
func (s *Service) Send(ctx context.Context, from User, m Message) (Receipt, error) {
	if err := s.unlessKeyUsed(ctx, from.ID, m.Key, m.check(s.limits)); err != nil {
		return Receipt{}, err
	}
	body, err := Body(Text{Text: m.Text, Data: m.Data, ReplyTo: m.ReplyTo, Mentions: m.Mentions})
	if err != nil {
		return Receipt{}, err
	}
	now := s.now()
	e, dup, err := s.store.Append(ctx, Draft{
		ID: s.newID(now), Room: m.Room, From: from, Kind: KindText, Key: m.Key,
		Hash: m.hash(), Body: body, At: now, ReplyTo: m.ReplyTo,
	})
	if err != nil {
		return Receipt{}, err
	}
	if !dup {
		s.pub.Entry(e)
	}
	return Receipt{Seq: e.Seq, ID: e.ID, At: e.At, Dup: dup}, nil
}

// History reads a page of one of the user's rooms, in ascending order. more reports whether there are entries beyond
// the page: older ones if the page was read backwards, else newer ones.
func (s *Service) History(ctx context.Context, user, room string, p Page) (entries []Entry, more bool, err error) {
	switch {
	case p.Before != nil && p.After != nil:
		return nil, false, BadField("after", "must not come with before")
	case p.Before != nil && *p.Before < 0:
		return nil, false, BadField("before", "must not be negative")
	case p.After != nil && *p.After < 0:
		return nil, false, BadField("after", "must not be negative")
	}
	if p.Limit, err = pageLimit(p.Limit); err != nil {
		return nil, false, err
	}
	p.MaxBytes = min(cmp.Or(p.MaxBytes, pageBytes), pageBytes)
	if err := s.mayRead(ctx, room, user); err != nil {
		return nil, false, err
	}
	return s.store.History(ctx, room, p)
}

// Read stores up to which entry the user has read. The position never moves back. In a small room it is published to
// all members, otherwise to the user's own devices.
func (s *Service) Read(ctx context.Context, user, room string, seq int64) (unread int64, err error) {
	if err := checkID("room", room); err != nil {
		return 0, err
	}
	if seq < 0 {
		return 0, BadField("seq", "must not be negative")
	}
	r, err := s.store.Read(ctx, room, user, seq)
	if err != nil {
		return 0, err
	}
	if moved := (ReadMoved{Room: room, User: user, Seq: r.Seq}); r.Moved && r.Members <= SmallRoom {
		s.pub.ToRoom(room, moved)
	} else if r.Moved {
		s.pub.ToUser(user, moved)
	}
	return r.Unread, nil
}

// LastSeqs returns the last seq of each room; unknown rooms are left out.
func (s *Service) LastSeqs(ctx context.Context, rooms []string) (map[string]int64, error) {
	return s.store.LastSeqs(ctx, rooms)
}
