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
	// presenceRounds is how often in a lease each socket is noted again.
	presenceRounds = 3
	// presenceFarewell bounds the forgetting when an instance stops. What it does not get to ends with its lease.
	presenceFarewell = 3 * time.Second
)

// Run implements chat.Presence: it notes the sockets of one slot after the other. After an outage it catches up
// five times as fast, but not all at once.
func (p *presence) Run(ctx context.Context) error {
	round := p.lease / presenceRounds
	pace := round / presenceSlots
	var h health
	// Slots do not wait for one another: while one node of a cluster is silent, and each slot waits for it, the sockets
	// on the other nodes are still renewed in time.
	flights := make(chan struct{}, presenceSlots)
	var flying sync.WaitGroup
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
		case flights <- struct{}{}:
		}
		flying.Go(func() {
			if users := p.local.users(slot); len(users) > 0 { // an empty slot says nothing about Redis
				h.note(p, p.renew(ctx, users))
			}
			<-flights
		})
	}
	flying.Wait()
	p.farewell(context.WithoutCancel(ctx))
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// renew notes the sockets of these users again.
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
	if (nodes{p.client}).sharded() {
		together = 1
	}
	calls := make([]*call, 0, 1+len(users)/together)
	for some := range slices.Chunk(users, together) {
		calls = append(calls, p.note(some, 0))
	}
	send(ctx, p.client, calls)
	var failed error
	for i, c := range calls {
		some := users[i*together : min((i+1)*together, len(users))]
		replies, err := readNoted(c.cmd, some)
		if err != nil {
			failed = err
		}
		for n, u := range some {
			p.local.learn(u.user, u.sockets, replies[n].sinces)
		}
	}
	return errors.Join(failed, p.forgetGone(ctx, users))
}

// forgetGone takes back what was noted while its Leave was on the way.
func (p *presence) forgetGone(ctx context.Context, users []localUser) error {
	var gone []localUser
	for _, u := range users {
		if left := p.local.gone(u); len(left) > 0 {
			gone = append(gone, localUser{u.user, left})
		}
	}
	return p.forget(ctx, gone)
}

func (p *presence) forget(ctx context.Context, users []localUser) (failed error) {
	if len(users) == 0 {
		return nil
	}
	calls := make([]*call, len(users))
	for i, u := range users {
		calls[i] = p.leave(u.user, u.sockets)
	}
	send(ctx, p.client, calls)
	for _, c := range calls {
		if err := c.err(); err != nil {
			failed = err
		}
	}
	return failed
}

// farewell forgets all sockets of this instance.
func (p *presence) farewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, presenceFarewell)
	defer cancel()
	for slot := range presenceSlots {
		for users := range slices.Chunk(p.local.users(slot), presencePipe) {
			if err := p.forget(ctx, users); err != nil {
				p.log.Warn("sockets of this instance count until their lease ends", "err", err)
				return
			}
		}
	}
}

// health is whether the last renewal worked, so that an outage is logged once.
type health struct{ bad atomic.Bool }

func (h *health) note(p *presence, err error) {
	switch {
	case err != nil && !errors.Is(err, context.Canceled) && !h.bad.Swap(true):
		p.log.Warn("presence is not renewed", "err", err)
	case err == nil && h.bad.Swap(false):
		p.log.Info("presence is renewed again")
	}
}
