package chat

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	crowdKept = 10 * time.Second // how long a count may be given again
	crowdWait = 10 * time.Second // how long one may take
)

// crowds counts who is online in large rooms, once for all who ask at the same time and shortly after.
type crowds struct {
	mu    sync.Mutex
	rooms map[string]*crowd // guarded by mu
}

// crowd is one count, over or under way.
type crowd struct {
	begun time.Time
	done  chan struct{} // closed when the rest is known

	online int
	err    error
}

func (c *crowds) count(ctx context.Context, room string, now func() time.Time, look func(context.Context, string) (int, error)) (int, error) {
	one, first := c.enter(room, now())
	if first {
		c.look(ctx, room, one, look)
	}
	select {
	case <-one.done:
		return one.online, one.err
	case <-ctx.Done():
		return 0, ErrUnavailable
	}
}

// enter gives the count to wait for; first: the caller makes it.
func (c *crowds) enter(room string, now time.Time) (one *crowd, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, old := range c.rooms {
		if now.Sub(old.begun) >= crowdKept {
			delete(c.rooms, name)
		}
	}
	if one = c.rooms[room]; one != nil {
		return one, false
	}
	one = &crowd{begun: now, done: make(chan struct{}), err: ErrUnavailable}
	c.rooms[strings.Clone(room)] = one
	return one, true
}

// look makes the count for everyone who waits for it, even if he who began it does not wait any longer. One that has
// failed is not kept.
func (c *crowds) look(ctx context.Context, room string, one *crowd, look func(context.Context, string) (int, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), crowdWait)
	defer cancel()
	defer close(one.done)
	if one.online, one.err = look(ctx, room); one.err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rooms[room] == one {
		delete(c.rooms, room)
	}
}
