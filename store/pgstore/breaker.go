package pgstore

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"hongbao/chat"
)

// breaker keeps calls from waiting for a Postgres that is known to be out of reach. From the first failure on, one
// probe about every second tries in everyone's place.
type breaker struct {
	// static after newBreaker
	probe func(ctx context.Context) error
	log   *slog.Logger
	life  context.Context // until close
	end   context.CancelFunc

	probing sync.WaitGroup

	mu    sync.Mutex
	cause error         // nil: calls pass
	again chan struct{} // closed when calls pass again
}

// probeEvery is the time between two probes, give or take a quarter.
const probeEvery = time.Second

func newBreaker(probe func(ctx context.Context) error, log *slog.Logger) *breaker {
	b := &breaker{probe: probe, log: log}
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// err is why a call need not even try.
func (b *breaker) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause == nil {
		return nil
	}
	return fmt.Errorf("%w: Postgres is out of reach: %w", chat.ErrUnavailable, b.cause)
}

// trip makes calls fail until a probe has succeeded. The first one starts at once: it may have been one call's bad luck.
func (b *breaker) trip(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause != nil || b.life.Err() != nil {
		return
	}
	b.cause, b.again = cause, make(chan struct{})
	b.probing.Go(b.watch)
	b.log.Warn("Postgres is out of reach", "err", cause)
}

// watch probes until that succeeds.
func (b *breaker) watch() {
	began := time.Now()
	for b.tryOnce() != nil {
		select {
		case <-time.After(probeEvery*3/4 + rand.N(probeEvery/2)):
		case <-b.life.Done():
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cause = nil
	close(b.again)
	b.log.Info("Postgres is back", "after", time.Since(began))
}

func (b *breaker) tryOnce() error {
	ctx, cancel := context.WithTimeout(b.life, connectTimeout)
	defer cancel()
	return b.probe(ctx)
}

// await returns when calls pass, or the context ends.
func (b *breaker) await(ctx context.Context) error {
	b.mu.Lock()
	cause, again := b.cause, b.again
	b.mu.Unlock()
	if cause == nil {
		return ctx.Err()
	}
	select {
	case <-again:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.life.Done():
		return errPoolClosed
	}
}

// close ends the probe.
func (b *breaker) close() {
	b.mu.Lock()
	b.end() // under the lock, so that no trip comes after
	b.mu.Unlock()
	b.probing.Wait()
}
