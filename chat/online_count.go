package chat

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	onlineCountKept    = 10 * time.Second // how long a count may be reused
	onlineCountTimeout = 10 * time.Second // how long a count may take
)

// onlineCounts counts the members of large rooms that are online. Callers at the same time share one count, and later
// callers reuse it for onlineCountKept.
type onlineCounts struct {
	mu    sync.Mutex
	rooms map[string]*onlineCount // guarded by mu
}

// onlineCount is one count of a room, finished or under way.
type onlineCount struct {
	begun time.Time
	done  chan struct{} // closed when online and err are set

	online int
	err    error
}

func (c *onlineCounts) count(ctx context.Context, room string, now func() time.Time, count func(context.Context, string) (int, error)) (int, error) {
	one, first := c.join(room, now())
	if first {
		c.run(ctx, room, one, count)
	}
	select {
	case <-one.done:
		return one.online, one.err
	case <-ctx.Done():
		return 0, ErrUnavailable
	}
}

// join returns the count of a room to wait for. If first is true, the caller must run it.
func (c *onlineCounts) join(room string, now time.Time) (one *onlineCount, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, old := range c.rooms {
		if now.Sub(old.begun) >= onlineCountKept {
			delete(c.rooms, name)
		}
	}
	if one = c.rooms[room]; one != nil {
		return one, false
	}
	one = &onlineCount{begun: now, done: make(chan struct{}), err: ErrUnavailable}
	c.rooms[strings.Clone(room)] = one
	return one, true
}

// run makes the count for all callers that wait for it, also if the first caller's context ends. A count that failed
// is not reused.
func (c *onlineCounts) run(ctx context.Context, room string, one *onlineCount, count func(context.Context, string) (int, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), onlineCountTimeout)
	defer cancel()
	defer close(one.done)
	if one.online, one.err = count(ctx, room); one.err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rooms[room] == one {
		delete(c.rooms, room)
	}
}
