package events

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/store/eventlog"
)

// slowLease renews leases until stuck is set. Then a renewal takes four seconds, whatever its context, as a call of Postgres that has begun.
type slowLease struct {
	Store
	stuck atomic.Bool
}

func (s *slowLease) Lease(_ context.Context, consumer, _ string, ttl time.Duration, _ time.Time) (eventlog.Consumer, error) {
	if ttl > 0 && s.stuck.Load() {
		time.Sleep(leaseTime)
		return eventlog.Consumer{}, context.DeadlineExceeded
	}
	return eventlog.Consumer{Name: consumer}, nil
}

// TestRoundsEndWithTheLease lets a renewal hang: the first one, or one after a minute. A round may run until the lease ends, and no longer: then another
// instance delivers. While renewals succeed, the rounds go on for ever.
func TestRoundsEndWithTheLease(t *testing.T) {
	for _, healthy := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			store := &slowLease{}
			s := New(Options{Store: store, Instance: "a", Log: slog.New(slog.DiscardHandler), Now: time.Now})
			began := time.Now()
			time.AfterFunc(healthy, func() { store.stuck.Store(true) })
			var rounds int
			var last time.Duration
			s.runLeased(t.Context(), "webhook", began.Add(leaseTime), func(ctx context.Context, _ time.Duration) time.Duration {
				select { // a delivery that takes 50 ms
				case <-time.After(50 * time.Millisecond):
				case <-ctx.Done():
				}
				rounds++
				last = time.Since(began)
				return 0
			})
			if last < healthy || last > healthy+leaseTime {
				t.Errorf("the last of %d rounds ended after %v; want between %v, when renewals began to hang, and %v later", rounds, last, healthy, leaseTime)
			}
		})
	}
}
