package chat

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// countEvery is the least time between two MembersCounted of one room.
const countEvery = time.Second

// counting tells rooms how many they are: the first change at once, those that follow within countEvery
// together at its end. A room costs something only from a change until countEvery after it.
type counting struct {
	// static
	store Store
	pub   Publisher
	log   *slog.Logger

	mu      sync.Mutex
	rooms   map[string]bool // guarded by mu; told lately; true: it has changed since
	stopped bool            // guarded by mu
	asking  sync.WaitGroup  // those who ask the store; none begins once stopped
}

func (c *counting) changed(room string, count int) {
	if !c.begin(room) {
		return
	}
	c.pub.ToRoom(room, MembersCounted{Room: room, Count: count})
	time.AfterFunc(countEvery, func() { c.again(room) })
}

// begin tells whether the room is to be told now; if not, it will be.
func (c *counting) begin(room string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	if _, lately := c.rooms[room]; lately {
		c.rooms[room] = true
		return false
	}
	c.rooms[room] = false
	return true
}

// again asks the store: of several changes at once the last to report need not be the last that happened.
func (c *counting) again(room string) {
	if !c.next(room) {
		return
	}
	defer c.asking.Done()
	time.AfterFunc(countEvery, func() { c.again(room) })
	ctx, cancel := context.WithTimeout(context.Background(), countEvery)
	defer cancel()
	r, err := c.store.Room(ctx, room)
	if err != nil {
		c.log.Warn("members not counted", "room", room, "err", err)
		return
	}
	c.pub.ToRoom(room, MembersCounted{Room: room, Count: r.Members})
}

// next tells whether the room has changed since it was told, and forgets it if not. It changed: the caller is one
// of those who ask.
func (c *counting) next(room string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || !c.rooms[room] {
		delete(c.rooms, room)
		return false
	}
	c.rooms[room] = false
	c.asking.Add(1)
	return true
}

// stop returns when nobody asks the store any more.
func (c *counting) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.asking.Wait()
}
