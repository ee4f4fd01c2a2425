package api

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"hongbao/chat"
)

// userRates are the rates of web/docs/protocol/limits.md, per user over all instances.
var userRates = map[string]chat.Rate{
	"send":        {PerSecond: 10, Burst: 20},
	"send_packet": {PerSecond: 2, Burst: 5},
	MethodGrab:    {PerSecond: 20, Burst: 40},
}

// sharedRate maps a method to the method whose limit it counts against. edit and react count as send, because their
// entries cost a room as much as a text.
var sharedRate = map[string]string{"edit": "send", "react": "send"}

// Limits for all commands together: of one connection, and of one user over HTTP, where there is no connection.
const (
	CommandsPerSecond = 50
	CommandBurst      = 100
)

// The limit for grabs has two parts. Each instance allows the free part without asking the other instances, so that
// users that grab once cost no extra call. All instances together allow the shared part. One instance allows exactly the
// limit of the protocol; n instances allow the free part n-1 times more.
var (
	freeGrabs   = chat.Rate{PerSecond: 5, Burst: 10}
	sharedGrabs = chat.Rate{PerSecond: 15, Burst: 30}
)

// guestRate limits the creation of guests from one IP address.
var guestRate = chat.Rate{PerSecond: 2, Burst: 100}

const (
	sharedTimeout = 100 * time.Millisecond // timeout of a call to the shared limiter; after a timeout the request is allowed
	sharedPause   = time.Second            // after a failed call, how long the shared limiter is not called
)

// Rates limits how often users may call commands. It asks the limiter of this instance first, because a refusal there
// needs no call to the shared limiter. The zero value limits nothing.
type Rates struct {
	// static
	local  chat.Limiter // nil: nothing is limited
	shared chat.Limiter // nil: this is the only instance
	now    func() time.Time
	start  time.Time

	pausedUntil atomic.Int64 // in nanoseconds since start; until then the shared limiter is not called
}

// NewRates returns Rates that count with the limiter local on this instance and with the limiter shared over all
// instances. If local is nil, nothing is limited. If shared is nil, this is the only instance.
func NewRates(local, shared chat.Limiter, now func() time.Time) *Rates {
	return &Rates{local: local, shared: shared, now: now, start: now()}
}

// spend counts a command against its user's limit and returns an error if the limit is exceeded. A grab is counted on
// this instance only, because most grabs are answered from memory; see admitGrab.
func (r *Rates) spend(ctx context.Context, user, method string) error {
	if r.local == nil {
		return nil
	}
	name := cmp.Or(sharedRate[method], method)
	rate, limited := userRates[name]
	if !limited {
		return nil
	}
	return r.take(ctx, name+":"+user, rate, name != MethodGrab)
}

// SpendHTTP counts any command over HTTP against its user's limit. Each instance counts for itself.
func (r *Rates) SpendHTTP(ctx context.Context, user string) error {
	return r.take(ctx, "commands:"+user, chat.Rate{PerSecond: CommandsPerSecond, Burst: CommandBurst}, false)
}

// SpendGuest counts a new guest against the limit of the IP address that the request comes from.
func (r *Rates) SpendGuest(ctx context.Context, address string) error {
	return r.take(ctx, "guest:"+address, guestRate, true)
}

// admitGrab counts a grab that is about to call the Pool against the shared limit.
func (r *Rates) admitGrab(ctx context.Context, user string) error {
	if r.local == nil || r.shared == nil {
		return nil
	}
	if wait, err := r.local.Take(ctx, "free:"+user, freeGrabs); err == nil && wait == 0 {
		return nil
	}
	return r.takeShared(ctx, MethodGrab+":"+user, sharedGrabs)
}

func (r *Rates) take(ctx context.Context, key string, rate chat.Rate, everywhere bool) error {
	if r.local == nil {
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

// takeShared counts against the shared limiter. While the shared limiter cannot be reached, it allows everything; the
// limits of each instance still apply.
func (r *Rates) takeShared(ctx context.Context, key string, rate chat.Rate) error {
	now := r.now().Sub(r.start)
	if int64(now) < r.pausedUntil.Load() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, sharedTimeout)
	defer cancel()
	wait, err := r.shared.Take(limited, key, rate)
	switch {
	case ctx.Err() != nil: // the caller has cancelled: not a failure of the limiter
		return ctx.Err()
	case err != nil:
		r.pausedUntil.Store(int64(now + sharedPause))
		return nil
	case wait > 0:
		return &chat.RateError{After: wait}
	}
	return nil
}
