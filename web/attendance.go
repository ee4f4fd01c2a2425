package web

import (
	"context"
	"log/slog"
	"sync"

	"hongbao/chat"
)

// attendance tells the presence whose sockets come and go, one after the other in that order, so that neither a
// connect nor the end of a socket waits for it. Who has too many on all instances together loses the oldest.
type attendance struct {
	// static
	presence chat.Presence
	most     int // sockets of one user
	pushOut  func(user, socket string)
	comings  *comings
	log      *slog.Logger
	wake     chan struct{} // one slot, never closed

	mu    sync.Mutex
	queue []movement // guarded by mu; bounded by the sockets that there are or have been since the presence answered
}

// movement is a socket that has come or gone.
type movement struct {
	user, socket string
	gone         bool
}

func newAttendance(p chat.Presence, most int, pushOut func(user, socket string), c *comings, log *slog.Logger) *attendance {
	return &attendance{presence: p, most: most, pushOut: pushOut, comings: c, log: log, wake: make(chan struct{}, 1)}
}

// note never blocks.
func (a *attendance) note(m movement) {
	a.mu.Lock()
	a.queue = append(a.queue, m)
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run works until ctx is done; then the presence forgets all sockets of this instance.
func (a *attendance) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
		}
		a.mu.Lock()
		queue := a.queue
		a.queue = nil
		a.mu.Unlock()
		for _, m := range queue {
			a.tell(ctx, m)
		}
	}
}

func (a *attendance) tell(ctx context.Context, m movement) {
	if m.gone {
		last, err := a.presence.Leave(ctx, m.user, m.socket)
		if err != nil {
			a.log.Debug("socket not forgotten yet, its lease ends", "err", err)
		}
		if last {
			a.comings.noteWent(m.user)
		}
		return
	}
	out, first, err := a.presence.Enter(ctx, m.user, m.socket, a.most)
	if err != nil {
		a.log.Debug("socket not noted yet, it will be with the next leases", "err", err)
	}
	if first {
		a.comings.noteCame(m.user)
	}
	for _, socket := range out {
		a.pushOut(m.user, socket)
	}
}
