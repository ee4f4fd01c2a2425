package hub

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"hongbao/hub/internal/wheel"
)

// Run runs the hub's timers, poller, bus, repairs and comparisons until ctx is done. Then it closes the remaining
// connections and waits until they have ended. It may be called again after it returns.
func (h *Hub) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h.conns.Resume()
	var group sync.WaitGroup
	var failed error
	if h.o.Bus != nil {
		r := receiver{h}
		r.start()
		group.Go(func() {
			err := h.o.Bus.Run(ctx, r)
			if err != nil && ctx.Err() == nil {
				failed = err
				cancel(err)
			}
		})
	}
	group.Go(func() { h.runClock(ctx) })
	group.Go(func() { h.poller.Run(ctx) })
	group.Go(func() { h.comparer.Run(ctx) })
	for range repairers {
		group.Go(func() { h.repairer.run(ctx) })
	}
	group.Wait()
	h.conns.Stop(func(c *Conn) { c.socket.Abort() })
	return failed
}

// runClock fires the timers at each tick, until ctx is done.
func (h *Hub) runClock(ctx context.Context) {
	ticker := time.NewTicker(wheel.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		h.wheels.Advance()
		h.conns.sockets.Tick()
	}
}

// Reset closes all connections (3014) and forgets the positions of all topics. It is for a store that has lost messages.
func (h *Hub) Reset() {
	for _, t := range h.topics.all() {
		t.Reset()
	}
	for _, c := range h.conns.List() {
		c.Close(CloseStateInvalidated, reasonStateInvalidated)
	}
}

// Compare requests a comparison of every topic with the store. It does not wait for it.
func (h *Hub) Compare() { h.comparer.CompareAll() }

const (
	// drainInterval is how often Drain looks for connections whose time to be closed has come.
	drainInterval = 50 * time.Millisecond
	// drainPatience is how long a connection with commands in progress may stay open after its time to be closed.
	drainPatience = 10 * time.Second
)

// Drain closes every connection with the code and reason. Each connection is closed at a random time within the window,
// once it has no command in progress (Handler.Idle). Connections that attach during the drain get a time in the rest of
// the window. Drain returns when all have ended or ctx is done.
func (h *Hub) Drain(ctx context.Context, window time.Duration, code int, reason string) error {
	ticker := time.NewTicker(drainInterval)
	defer ticker.Stop()
	end := time.Now().Add(window)
	dueAt := map[*Conn]time.Time{} // when each connection is to be closed; the zero time: it is closed already
	for {
		now := time.Now()
		conns := h.conns.List()
		if len(conns) == 0 {
			return nil
		}
		for _, c := range conns {
			due, known := dueAt[c]
			if !known {
				due = now.Add(rand.N(max(end.Sub(now), 1)))
				dueAt[c] = due
			}
			if due.IsZero() || now.Before(due) || !c.handler.Idle() && now.Before(due.Add(drainPatience)) {
				continue
			}
			c.Close(code, reason)
			dueAt[c] = time.Time{}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
