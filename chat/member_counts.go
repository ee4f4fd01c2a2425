package chat

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// countEvery is the least time between two publications of a room's number of members.
const countEvery = time.Second

// memberCounts publishes the number of members of rooms. The first change is published at once. Changes within
// countEvery after that are published together at its end. A room uses memory only from a change until countEvery
// after it.
type memberCounts struct {
	// static
	store Store
	pub   Publisher
	log   *slog.Logger

	mu      sync.Mutex
	rooms   map[string]bool // guarded by mu; rooms within countEvery of a publication; true: their count has changed since
	stopped bool            // guarded by mu
	reads   sync.WaitGroup  // reads of the store; none begins once stopped
}

func (c *memberCounts) changed(room string, count int) {
	if !c.startInterval(room) {
		return
	}
	c.pub.ToRoom(room, MembersCounted{Room: room, Count: count})
	time.AfterFunc(countEvery, func() { c.recount(room) })
}

// startInterval reports whether the caller must publish the count now. If not, the count is published at the end of
// the room's running interval.
func (c *memberCounts) startInterval(room string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	if _, recent := c.rooms[room]; recent {
		c.rooms[room] = true
		return false
	}
	c.rooms[room] = false
	return true
}

// recount reads the count from the store and publishes it. It takes no count from the changes: of several at the same
// time, the last to arrive here need not be the last that was committed.
func (c *memberCounts) recount(room string) {
	if !c.nextInterval(room) {
		return
	}
	defer c.reads.Done()
	time.AfterFunc(countEvery, func() { c.recount(room) })
	ctx, cancel := context.WithTimeout(context.Background(), countEvery)
	defer cancel()
	r, err := c.store.Room(ctx, room)
	if err != nil {
		c.log.Warn("members not counted", "room", room, "err", err)
		return
	}
	c.pub.ToRoom(room, MembersCounted{Room: room, Count: r.Members})
}

// nextInterval is called at the end of an interval. If the count has changed since it was published, it begins another
// interval and returns true; the caller must then call reads.Done. Otherwise it forgets the room.
func (c *memberCounts) nextInterval(room string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || !c.rooms[room] {
		delete(c.rooms, room)
		return false
	}
	c.rooms[room] = false
	c.reads.Add(1)
	return true
}

// stop prevents further reads of the store, and blocks until none is under way.
func (c *memberCounts) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.reads.Wait()
}
