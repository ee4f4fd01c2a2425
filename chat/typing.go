package chat

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	typingEvery = time.Second // the least time between two events of one user in one room
	typingMost  = 10          // events published to one room within typingEvery
)

// Typing publishes to a room that the user is typing. It returns no error: an event that is not allowed is dropped.
func (s *Service) Typing(ctx context.Context, by User, room string) {
	now := s.now()
	if checkID("room", room) != nil || !s.typing.allowUser(memberKey{room, by.ID}, now) {
		return
	}
	st, err := s.Standing(ctx, room, by.ID)
	if err != nil || st.MaySend(now) != nil {
		return
	}
	if s.typing.allowRoom(room, now) {
		s.pub.ToRoom(room, Typed{Room: room, User: by.ID})
	}
}

// typing limits how often typing events are published. It forgets what is older than typingEvery.
type typing struct {
	mu    sync.Mutex
	users map[memberKey]time.Time // guarded by mu; when the last event of each user in a room was allowed
	rooms map[string]*roomRate    // guarded by mu
	swept time.Time               // guarded by mu
}

// roomRate counts the events of a room since the time since.
type roomRate struct {
	since time.Time
	count int
}

// allowUser reports whether the user has sent no event within typingEvery. It is called before the room's rate is
// checked. So a user that may not send in the room does not use up the rate.
func (t *typing) allowUser(at memberKey, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweepLocked(now)
	if last, ok := t.users[at]; ok && now.Sub(last) < typingEvery {
		return false
	}
	t.users[memberKey{strings.Clone(at.room), at.user}] = now
	return true
}

// allowRoom reports whether one more event may be published to the room.
func (t *typing) allowRoom(room string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rooms[room]
	if r == nil || now.Sub(r.since) >= typingEvery {
		r = &roomRate{since: now}
		t.rooms[strings.Clone(room)] = r
	}
	r.count++
	return r.count <= typingMost
}

func (t *typing) sweepLocked(now time.Time) {
	if now.Sub(t.swept) < typingEvery {
		return
	}
	t.swept = now
	for at, last := range t.users {
		if now.Sub(last) >= typingEvery {
			delete(t.users, at)
		}
	}
	for room, r := range t.rooms {
		if now.Sub(r.since) >= typingEvery {
			delete(t.rooms, room)
		}
	}
}
