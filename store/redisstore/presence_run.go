package redisstore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
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
			h.note(p, p.renew(ctx, slot))
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

// renew notes the sockets of a slot again.
func (p *presence) renew(ctx context.Context, slot int) error {
	var failed error
	for users := range slices.Chunk(p.local.users(slot), presencePipe) {
		failed = errors.Join(failed, p.renewSome(ctx, users))
	}
	return failed
}

func (p *presence) renewSome(ctx context.Context, users []localUser) error {
	ctx, cancel := context.WithTimeout(ctx, presenceWait)
	defer cancel()
	calls := make([]scriptCall, len(users))
	for i, u := range users {
		calls[i] = scriptCall{userKey(u.user), p.noteArgs(u.sockets, 0)}
	}
	var failed error
	for i, reply := range runScripts(ctx, p.client, presenceNote, calls) {
		n, err := readNoted(reply)
		if err != nil {
			failed = err
			continue
		}
		p.local.learn(users[i].user, users[i].sockets, n.sinces)
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
	calls := make([]scriptCall, len(users))
	for i, u := range users {
		calls[i].key = userKey(u.user)
		for _, s := range u.sockets {
			calls[i].args = append(calls[i].args, s.socket)
		}
	}
	for _, reply := range runScripts(ctx, p.client, presenceLeave, calls) {
		if err := reply.Err(); err != nil {
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

// scriptCall is one call of a script with one key.
type scriptCall struct {
	key  string
	args []any
}

// runScripts runs a script for each call, in one pipeline. Where a node does not know it, those calls are run again
// with its text. Each reply has its own error.
func runScripts(ctx context.Context, client redis.UniversalClient, script *redis.Script, calls []scriptCall) []*redis.Cmd {
	replies := make([]*redis.Cmd, len(calls))
	if len(calls) == 0 {
		return nil
	}
	pipe := client.Pipeline()
	for i, c := range calls {
		replies[i] = script.EvalSha(ctx, pipe, []string{c.key}, c.args...)
	}
	_, _ = pipe.Exec(ctx) // the replies tell
	again := client.Pipeline()
	for i, c := range calls {
		if redis.HasErrorPrefix(replies[i].Err(), "NOSCRIPT") || errors.Is(replies[i].Err(), redis.ErrNoScript) {
			replies[i] = script.Eval(ctx, again, []string{c.key}, c.args...)
		}
	}
	if again.Len() > 0 {
		_, _ = again.Exec(ctx)
	}
	return replies
}
