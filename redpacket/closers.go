package redpacket

import "sync"

// closers are the goroutines that close packets, learn that they are, or clear the outbox. Once stopped there are none, and none is started any more: a
// grab whose client has gone may outlive the service, and the due date it leaves behind is enough.
type closers struct {
	mu      sync.Mutex
	stopped bool // guarded by mu
	running sync.WaitGroup
}

// start tells whether it did.
func (c *closers) start(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		c.running.Go(f)
	}
	return !c.stopped
}

// stop returns when all that were started have ended.
func (c *closers) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.running.Wait()
}
