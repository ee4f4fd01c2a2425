package events

import (
	"context"
	"sync"
	"time"

	"hongbao/store/eventlog"
)

// waiters lets the requests that wait for events share one query for the newest position of the stream. The query runs every
// pollEvery while at least one request waits.
type waiters struct {
	mu      sync.Mutex
	waiting int             // guarded by mu
	polling bool            // guarded by mu; a goroutine polls
	newest  eventlog.Cursor // guarded by mu; as last polled
	known   bool            // guarded by mu; newest was polled since the present goroutine began to poll
	changed chan struct{}   // guarded by mu; closed when newest changes
}

// ahead waits until the stream has rows after the cursor, and returns true. It returns false if over fires, the server stops or
// ctx ends first.
func (s *Service) ahead(ctx context.Context, after eventlog.Cursor, over <-chan time.Time) bool {
	w := &s.waiters
	w.mu.Lock()
	w.waiting++
	if !w.polling {
		w.polling, w.changed = true, make(chan struct{})
		go s.poll(context.WithoutCancel(ctx))
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waiting--
	}()
	for {
		w.mu.Lock()
		ahead, changed := w.known && after.Behind(w.newest), w.changed
		w.mu.Unlock()
		if ahead {
			return true
		}
		select {
		case <-changed:
		case <-over:
			return false
		case <-s.stopping():
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// pollTimeout bounds one query of the shared poll.
const pollTimeout = 5 * time.Second

// poll reads the newest position of the stream again and again, until no request waits.
func (s *Service) poll(ctx context.Context) {
	w := &s.waiters
	for {
		time.Sleep(pollEvery)
		w.mu.Lock()
		if w.waiting == 0 {
			w.polling, w.known = false, false
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		limited, cancel := context.WithTimeout(ctx, pollTimeout)
		newest, err := s.o.Store.NewestEvent(limited)
		cancel()
		if err != nil {
			s.o.Log.Debug("newest event not read", "err", err)
			continue
		}
		w.mu.Lock()
		if !w.known || newest.String() != w.newest.String() {
			w.newest, w.known = newest, true
			close(w.changed)
			w.changed = make(chan struct{})
		}
		w.mu.Unlock()
	}
}
