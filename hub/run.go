package hub

import (
	"context"
	"sync"
	"time"

	"hongbao/hub/internal/wheel"
)

// Run runs the hub's timers, poller, bus, repairs and comparisons until ctx is done. Then it closes the remaining
// connections and waits until they have ended. It may be called again after it returns.
func (h *Hub) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h.conns.resume()
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
	group.Go(func() { h.comparer.run(ctx) })
	for range repairers {
		group.Go(func() { h.repairer.run(ctx) })
	}
	group.Wait()
	h.conns.stop()
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
