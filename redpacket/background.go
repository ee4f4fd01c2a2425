package redpacket

import "sync"

// background runs the goroutines that close packets, read how packets ended, or ack claims. After stop no such
// goroutine runs or can be started. A grab may still be running then, because it outlives its client. If it leaves a
// packet to be closed, the due date in the Pool makes another instance close it.
type background struct {
	mu      sync.Mutex
	stopped bool // guarded by mu
	running sync.WaitGroup
}

// start runs f in a goroutine. It reports false, and does not run f, after stop.
func (b *background) start(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.stopped {
		b.running.Go(f)
	}
	return !b.stopped
}

// stopping reports whether stop was called. A goroutine with many steps checks it and ends after its current step.
func (b *background) stopping() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopped
}

// stop blocks until all goroutines that were started have ended.
func (b *background) stop() {
	b.mu.Lock()
	b.stopped = true
	b.mu.Unlock()
	b.running.Wait()
}
