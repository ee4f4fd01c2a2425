package chat

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	typingEvery = time.Second // of one user in one room, at least
	typingMost  = 10          // told to one room in that time
)

// Typing tells a room that the user is writing. It says nothing of what keeps it from that.
func (s *Service) Typing(ctx context.Context, by User, room string) {
	now := s.now()
	if checkID("room", room) != nil || !s.typing.begins(seat{room, by.ID}, now) {
		return
	}
	st, err := s.Standing(ctx, room, by.ID)
	if err != nil || st.MaySend(now) != nil {
		return
	}
	if s.typing.told(room, now) {
		s.pub.ToRoom(room, Typed{Room: room, User: by.ID})
	}
}

// typing keeps those who write from being told too often. What is older than typingEvery is forgotten.
type typing struct {
	mu    sync.Mutex
	seats map[seat]time.Time  // guarded by mu; when each was let through last
	rooms map[string]*typists // guarded by mu
	swept time.Time           // guarded by mu
}

// typists is how often a room was told since then.
type typists struct {
	since time.Time
	count int
}

// begins tells whether the user has not been let through lately. He is asked before the room is, so that one who may
// not write there takes nobody's turn.
func (t *typing) begins(at seat, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweepLocked(now)
	if last, ok := t.seats[at]; ok && now.Sub(last) < typingEvery {
		return false
	}
	t.seats[seat{strings.Clone(at.room), at.user}] = now
	return true
}

// told tells whether the room is to be told once more.
func (t *typing) told(room string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rooms[room]
	if r == nil || now.Sub(r.since) >= typingEvery {
		r = &typists{since: now}
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
	for at, last := range t.seats {
		if now.Sub(last) >= typingEvery {
			delete(t.seats, at)
		}
	}
	for room, r := range t.rooms {
		if now.Sub(r.since) >= typingEvery {
			delete(t.rooms, room)
		}
	}
}
