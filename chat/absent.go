package chat

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Reason says why an entry is news for a user, wherever the user is.
type Reason string

// The reasons, the strongest first.
const (
	ByDirect  Reason = "direct"  // a text in a direct room
	ByMention Reason = "mention" // a text that mentions the user
	ByPacket  Reason = "packet"  // a packet that the user may grab
)

// MostNews bounds the cost of one entry: in a room with more members, neither a packet that all members may grab is news, nor that a text mentions
// all members.
const MostNews = 10_000

// Unread asks for the members of a room that have not read an entry.
type Unread struct {
	Room   string
	Seq    int64
	Sender string    // is left out
	Among  []string  // only these; nil: all members
	Now    time.Time // a silence that has ended then does not count
	After  string    // only users after this one
	Limit  int
}

// Absent finds users without a socket for which the entry is news. It leaves out users that have read the entry, that have
// made the room silent, or that have blocked the sender. It calls found for some users at a time. The reason is "" if the
// entry is no news. Absent learns from Presence which users have a socket: users of an instance that died count as connected
// for up to PresenceLease.
func (s *Service) Absent(ctx context.Context, e Entry, found func(users []string)) (Reason, error) {
	reason, among, err := s.newsFor(ctx, e)
	if err != nil || reason == "" {
		return "", err
	}
	q := Unread{Room: e.Room, Seq: e.Seq, Sender: e.From.ID, Among: among, Now: s.now(), Limit: onlinePage}
	for {
		users, err := s.store.UnreadBy(ctx, q)
		if err != nil {
			return "", err
		}
		if len(users) > 0 {
			absent, err := s.withoutSocket(ctx, users, e.From.ID)
			if err != nil {
				return "", err
			}
			if len(absent) > 0 {
				found(absent)
			}
		}
		if len(users) < q.Limit {
			return reason, nil
		}
		q.After = users[len(users)-1]
	}
}

// newsFor returns why the entry is news, and for which users; nil: for all members. reason is "" if the entry is no news.
func (s *Service) newsFor(ctx context.Context, e Entry) (reason Reason, among []string, err error) {
	switch e.Kind {
	case KindText:
		var text Text
		if json.Unmarshal(e.Body, &text) != nil || text.Text == "" && text.Data == nil && len(text.Files) == 0 {
			return "", nil, nil //nolint:nilerr // the text was recalled, or the body is not a Text
		}
		direct, err := s.isDirect(ctx, e.Room)
		switch {
		case err != nil:
			return "", nil, err
		case direct:
			return ByDirect, nil, nil
		case text.MentionAll:
			if all, err := s.newsForAll(ctx, e.Room); err != nil || all {
				return ByMention, nil, err
			}
		}
		if len(text.Mentions) > 0 {
			return ByMention, text.Mentions, nil
		}
	case KindPacket:
		var packet struct {
			To []string `json:"to"`
		}
		if json.Unmarshal(e.Body, &packet) != nil {
			return "", nil, nil //nolint:nilerr // the body is not that of a packet
		}
		if len(packet.To) > 0 {
			return ByPacket, packet.To, nil
		}
		if all, err := s.newsForAll(ctx, e.Room); err != nil || !all {
			return "", nil, err
		}
		return ByPacket, nil, nil
	}
	return "", nil, nil
}

// newsForAll reports whether an entry for all members of the room is news for each of them.
func (s *Service) newsForAll(ctx context.Context, room string) (bool, error) {
	r, err := s.store.Room(ctx, room)
	return err == nil && r.Members <= MostNews, err
}

// roomKinds remembers which rooms are direct rooms.
type roomKinds struct {
	mu     sync.Mutex
	direct map[string]bool // guarded by mu
}

// mostKinds bounds how many rooms isDirect remembers.
const mostKinds = 20_000

// isDirect reports whether the room is a direct room. The kind of a room never changes, so it is remembered.
func (s *Service) isDirect(ctx context.Context, room string) (bool, error) {
	s.kinds.mu.Lock()
	direct, known := s.kinds.direct[room]
	s.kinds.mu.Unlock()
	if known {
		return direct, nil
	}
	r, err := s.store.Room(ctx, room)
	if err != nil {
		return false, err
	}
	s.kinds.mu.Lock()
	defer s.kinds.mu.Unlock()
	if s.kinds.direct == nil || len(s.kinds.direct) >= mostKinds {
		s.kinds.direct = map[string]bool{}
	}
	s.kinds.direct[room] = r.Kind == Direct
	return r.Kind == Direct, nil
}

// withoutSocket returns those of the users that have no socket and have not blocked the sender.
func (s *Service) withoutSocket(ctx context.Context, users []string, sender string) ([]string, error) {
	online, err := s.MembersOnline(ctx, users)
	if err != nil {
		return nil, err
	}
	absent := make([]string, 0, len(users))
	for i, user := range users {
		if !online[i] {
			absent = append(absent, user)
		}
	}
	return WithoutBlockers(ctx, s.store, sender, absent)
}
