package pg

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"hongbao/chat"
)

// breaker makes calls fail at once while Postgres is known to be out of reach. After the first failure, calls do not try to
// connect, except those of lineage.Store. Instead probeUntilBack tries about once a second. A call without an answer in time
// is no such failure, because it may be one slow statement: it only starts a probe, which decides.
type breaker struct {
	// static after newBreaker
	probe  func(ctx context.Context) error
	log    *slog.Logger
	ctx    context.Context // ends with close
	cancel context.CancelFunc

	probing sync.WaitGroup

	mu        sync.Mutex
	cause     error         // nil: calls pass
	recovered chan struct{} // closed when calls pass again
	suspected bool          // a probe is deciding whether calls may pass
}

const (
	// probeEvery is the time between two probes, plus or minus a quarter.
	probeEvery = time.Second
	// suspectAfter is how long a call waits for an answer before a probe is started. The probe fails after
	// connectTimeout. So if Postgres is gone, later calls already fail at once before Patience ends for this call.
	suspectAfter = 1500 * time.Millisecond
)

func newBreaker(probe func(ctx context.Context) error, log *slog.Logger) *breaker {
	b := &breaker{probe: probe, log: log}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// err returns the reason why calls must fail at once, or nil.
func (b *breaker) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause == nil {
		return nil
	}
	return fmt.Errorf("%w: Postgres is out of reach: %w", chat.ErrUnavailable, b.cause)
}

// trip makes all calls fail until a probe succeeds. The first probe starts at once, because the failure may have hit
// only one call.
func (b *breaker) trip(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause != nil || b.ctx.Err() != nil {
		return
	}
	b.cause, b.recovered = cause, make(chan struct{})
	b.probing.Go(b.probeUntilBack)
	b.log.Warn("Postgres is out of reach", "err", cause)
}

// suspect starts one probe, while calls still pass. If the probe fails, suspect calls failed and then trips the
// breaker.
func (b *breaker) suspect(cause error, failed func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause != nil || b.suspected || b.ctx.Err() != nil {
		return
	}
	b.suspected = true
	b.probing.Go(func() {
		err := b.tryOnce()
		b.mu.Lock()
		b.suspected = false
		b.mu.Unlock()
		if err != nil {
			failed()
			b.trip(fmt.Errorf("%w; a probe failed: %w", cause, err))
		}
	})
}

// probeUntilBack probes until a probe succeeds, and then lets calls pass again. It also ends with close.
func (b *breaker) probeUntilBack() {
	began := time.Now()
	for b.tryOnce() != nil {
		select {
		case <-time.After(probeEvery*3/4 + rand.N(probeEvery/2)):
		case <-b.ctx.Done():
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cause = nil
	close(b.recovered)
	b.log.Info("Postgres is back", "after", time.Since(began))
}

func (b *breaker) tryOnce() error {
	ctx, cancel := context.WithTimeout(b.ctx, connectTimeout)
	defer cancel()
	return b.probe(ctx)
}

// await blocks until calls pass. It returns an error if the context ends or the breaker is closed before that.
func (b *breaker) await(ctx context.Context) error {
	b.mu.Lock()
	cause, recovered := b.cause, b.recovered
	b.mu.Unlock()
	if cause == nil {
		return ctx.Err()
	}
	select {
	case <-recovered:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.ctx.Done():
		return errClosed
	}
}

// close ends the probes and waits for them.
func (b *breaker) close() {
	b.mu.Lock()
	b.cancel() // under the lock, so that no trip follows
	b.mu.Unlock()
	b.probing.Wait()
}
