package redisstore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// presenceRounds is how often each socket is renewed in a lease.
	presenceRounds = 3
	// presenceStopTimeout bounds the removal of all sockets when an instance stops. Sockets that remain expire with
	// their lease.
	presenceStopTimeout = 3 * time.Second
)

// Run implements chat.Presence. It renews one slot after the other; each holds the sockets of a hundredth of the
// users. After an outage it catches up at five times the usual pace.
func (p *presence) Run(ctx context.Context) error {
	round := p.lease / presenceRounds
	pace := round / presenceSlots
	var h health
	// Slots are renewed concurrently. So while one node of a cluster is silent, the sockets on the other nodes are
	// still renewed in time.
	slots := make(chan struct{}, presenceSlots)
	var renewals sync.WaitGroup
	timer := time.NewTimer(0)
	defer timer.Stop()
	next := time.Now()
	for slot := 0; ctx.Err() == nil; slot = (slot + 1) % presenceSlots {
		next = latest(next.Add(pace), time.Now().Add(-round))
		timer.Reset(max(time.Until(next), pace/5))
		select {
		case <-ctx.Done():
			continue
		case <-timer.C:
		}
		select {
		case <-ctx.Done():
			continue
		case slots <- struct{}{}:
		}
		renewals.Go(func() {
			if users := p.local.users(slot); len(users) > 0 { // without users no call is made that could show whether Redis works
				h.record(p, p.renew(ctx, users))
			}
			<-slots
		})
	}
	renewals.Wait()
	p.forgetAll(context.WithoutCancel(ctx))
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// renew renews the sockets of these users.
func (p *presence) renew(ctx context.Context, users []localUser) error {
	var failed error
	for some := range slices.Chunk(users, presencePipe) {
		failed = errors.Join(failed, p.renewSome(ctx, some))
	}
	return failed
}

func (p *presence) renewSome(ctx context.Context, users []localUser) error {
	ctx, cancel := context.WithTimeout(ctx, presenceWait)
	defer cancel()
	together := presenceCall
	if (nodes{client: p.client}).sharded() {
		together = 1
	}
	calls := make([]*call, 0, 1+len(users)/together)
	for some := range slices.Chunk(users, together) {
		calls = append(calls, p.enterCall(some, 0))
	}
	send(ctx, p.client, calls)
	var failed error
	for i, c := range calls {
		some := users[i*together : min((i+1)*together, len(users))]
		replies, err := readEntered(c.cmd, some)
		if err != nil {
			failed = err
		}
		for n, u := range some {
			p.local.setSince(u.user, u.sockets, replies[n].sinces)
		}
	}
	return errors.Join(failed, p.forgetLeft(ctx, users))
}

// forgetLeft removes from Redis the sockets whose Leave came while they were renewed: the renewal may have entered
// them again.
func (p *presence) forgetLeft(ctx context.Context, users []localUser) error {
	var leavers []localUser
	for _, u := range users {
		if sockets := p.local.left(u); len(sockets) > 0 {
			leavers = append(leavers, localUser{u.user, sockets})
		}
	}
	return p.forget(ctx, leavers)
}

func (p *presence) forget(ctx context.Context, users []localUser) (failed error) {
	if len(users) == 0 {
		return nil
	}
	calls := make([]*call, len(users))
	for i, u := range users {
		calls[i] = p.leaveCall(u.user, u.sockets)
	}
	send(ctx, p.client, calls)
	for _, c := range calls {
		if err := c.err(); err != nil {
			failed = err
		}
	}
	return failed
}

// forgetAll removes all sockets of this instance from Redis.
func (p *presence) forgetAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, presenceStopTimeout)
	defer cancel()
	for slot := range presenceSlots {
		for users := range slices.Chunk(p.local.users(slot), presencePipe) {
			if err := p.forget(ctx, users); err != nil {
				p.log.Warn("sockets of this instance not removed; they count until their lease ends", "err", err)
				return
			}
		}
	}
}

// health remembers whether the last renewal failed, so that an outage is logged once.
type health struct{ bad atomic.Bool }

func (h *health) record(p *presence, err error) {
	switch {
	case err != nil && !errors.Is(err, context.Canceled) && !h.bad.Swap(true):
		p.log.Warn("presence is not renewed", "err", err)
	case err == nil && h.bad.Swap(false):
		p.log.Info("presence renewed again")
	}
}
