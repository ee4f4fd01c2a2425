package events

import (
	"context"
	"time"

	"hongbao/store/eventlog"
)

const (
	leaseTime  = 4 * time.Second        // after a crash, another instance takes over within about leaseTime + leaseEvery
	leaseEvery = 700 * time.Millisecond // how often the lease is renewed, or requested while another instance has it
)

// whileLeased calls round again and again while this instance has the lease of the consumer, until ctx ends. round returns the
// pause before its next call. It gets the pause that it returned last, or 0 in the first call of each lease.
func (s *Service) whileLeased(ctx context.Context, consumer string, round func(ctx context.Context, before time.Duration) time.Duration) {
	for ctx.Err() == nil {
		began := time.Now()
		_, err := s.o.Store.Lease(ctx, consumer, s.o.Instance, leaseTime, s.o.Now())
		switch {
		case err == nil:
			s.o.Log.Info("reading the event stream", "consumer", consumer)
			s.runLeased(ctx, consumer, began.Add(leaseTime), round)
		case !eventlog.Lost(err) && ctx.Err() == nil:
			s.o.Log.Warn("event stream not read", "consumer", consumer, "err", err)
		}
		sleep(ctx, leaseEvery)
	}
}

// runLeased runs rounds until ctx ends, or until the lease cannot be renewed in time. The context of the rounds ends with the lease, also while a
// renewal still waits for the store: the store may go on with a call whose context has ended.
func (s *Service) runLeased(parent context.Context, consumer string, valid time.Time, round func(ctx context.Context, before time.Duration) time.Duration) {
	ctx, cancel := context.WithCancel(parent)
	expiry := time.AfterFunc(time.Until(valid), cancel)
	defer expiry.Stop()
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		defer cancel()
		s.keepLease(ctx, consumer, valid, expiry)
	}()
	for pause := time.Duration(0); ctx.Err() == nil; sleep(ctx, pause) {
		pause = round(ctx, pause)
	}
	stopped := ctx.Err() != nil && parent.Err() != nil
	cancel()
	<-renewed
	if stopped { // the instance stops: it gives the lease back, so that another one can take over at once
		ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), leaseEvery)
		defer cancel()
		if _, err := s.o.Store.Lease(ctx, consumer, s.o.Instance, 0, s.o.Now()); err != nil {
			s.o.Log.Debug("lease of a consumer not given back", "consumer", consumer, "err", err)
		}
	}
}

// keepLease renews the lease until ctx ends. It returns earlier if the lease is lost, or if a renewal fails and the lease may
// expire before the next one. valid is the time until which this instance has the lease. expiry fires then, and keepLease sets it again.
func (s *Service) keepLease(ctx context.Context, consumer string, valid time.Time, expiry *time.Timer) {
	for {
		sleep(ctx, leaseEvery)
		if ctx.Err() != nil {
			return
		}
		began := time.Now()
		limited, cancel := context.WithDeadline(ctx, valid)
		_, err := s.o.Store.Lease(limited, consumer, s.o.Instance, leaseTime, s.o.Now())
		cancel()
		switch {
		case err == nil:
			valid = began.Add(leaseTime)
			expiry.Reset(time.Until(valid))
		case eventlog.Lost(err), time.Until(valid) < leaseEvery:
			s.o.Log.Warn("lease of a consumer lost", "consumer", consumer, "err", err)
			return
		}
	}
}
