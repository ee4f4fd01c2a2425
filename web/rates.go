package web

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"hongbao/chat"
)

// The rates of section 9 of the protocol, per user over all instances.
var userRates = map[string]chat.Rate{
	"send":        {PerSecond: 10, Burst: 20},
	"send_packet": {PerSecond: 2, Burst: 5},
	grabMethod:    {PerSecond: 20, Burst: 40},
}

const grabMethod = "grab"

// spentAs are the commands that count as another one: what they add to a room costs the room as much.
var spentAs = map[string]string{"edit": "send", "react": "send"}

// httpRate is how fast a user may call over HTTP, whatever it is: there is no connection that could be paced. Each instance
// counts for itself.
var httpRate = chat.Rate{PerSecond: float64(time.Second / commandEvery), Burst: commandBurst}

// The rate of grabs in two parts: what each instance gives without asking the others, so that a crowd of which
// everybody grabs once costs no call more, and what they give together. One instance alone gives exactly the rate of the
// protocol; n of them give n-1 times the free part more.
var (
	freeGrabs   = chat.Rate{PerSecond: 5, Burst: 10}
	sharedGrabs = chat.Rate{PerSecond: 15, Burst: 30}
)

// guestRate is how fast new guests may come from one address.
var guestRate = chat.Rate{PerSecond: 2, Burst: 100}

const (
	sharedTime = 100 * time.Millisecond // who does not answer by then does not limit
	sharedRest = time.Second            // and is not asked for a while
)

// rates keeps everyone from asking for too much. The bucket of this instance is asked first: who is over the rate here is
// over it everywhere, and costs nobody else anything.
type rates struct {
	// static
	on     bool
	local  chat.Limiter
	shared chat.Limiter // nil: there is only this instance
	now    func() time.Time
	start  time.Time                                    // what connections count from
	admit  func(ctx context.Context, user string) error // admitGrab; nil: it would admit everybody

	rest atomic.Int64 // until when the shared limiter is not asked, in nanoseconds since start
}

func newRates(o Options) *rates {
	r := &rates{on: o.Rates, local: o.Local, shared: o.Limiter, now: o.Now, start: o.Now()}
	if r.on && r.shared != nil {
		r.admit = r.admitGrab
	}
	return r
}

// spend takes what the user's command costs. A grab is only counted here: most are answered from memory; see admitGrab.
func (r *rates) spend(ctx context.Context, user, method string) error {
	if !r.on {
		return nil
	}
	name := cmp.Or(spentAs[method], method)
	rate, limited := userRates[name]
	if !limited {
		return nil
	}
	return r.take(ctx, name+":"+user, rate, name != grabMethod)
}

// spendHTTP takes what any command over HTTP costs its user.
func (r *rates) spendHTTP(ctx context.Context, user string) error {
	return r.take(ctx, "commands:"+user, httpRate, false)
}

// admitGrab is asked when a grab is on its way to the Pool.
func (r *rates) admitGrab(ctx context.Context, user string) error {
	if !r.on || r.shared == nil {
		return nil
	}
	if wait, err := r.local.Take(ctx, "free:"+user, freeGrabs); err == nil && wait == 0 {
		return nil
	}
	return r.takeShared(ctx, grabMethod+":"+user, sharedGrabs)
}

// admitGuest takes what a new guest costs the address that he comes from.
func (r *rates) admitGuest(ctx context.Context, address string) error {
	return r.take(ctx, "guest:"+address, guestRate, true)
}

func (r *rates) take(ctx context.Context, key string, rate chat.Rate, everywhere bool) error {
	if !r.on {
		return nil
	}
	wait, err := r.local.Take(ctx, key, rate)
	switch {
	case err != nil:
		return err
	case wait > 0:
		return &chat.RateError{After: wait}
	case !everywhere || r.shared == nil:
		return nil
	}
	return r.takeShared(ctx, key, rate)
}

// takeShared lets everybody pass while the shared limiter cannot be reached: each instance still keeps its own rate.
func (r *rates) takeShared(ctx context.Context, key string, rate chat.Rate) error {
	now := r.now().Sub(r.start)
	if int64(now) < r.rest.Load() {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, sharedTime)
	defer cancel()
	wait, err := r.shared.Take(asking, key, rate)
	switch {
	case ctx.Err() != nil: // it is the asker who has gone
		return ctx.Err()
	case err != nil:
		r.rest.Store(int64(now + sharedRest))
		return nil
	case wait > 0:
		return &chat.RateError{After: wait}
	}
	return nil
}
