package redpacket

import (
	"context"
	"sync"
)

// laterAcks clears the outbox behind the backs of those whose claims are settled: they need not wait for that, and what
// many have settled meanwhile goes in one call. What gets lost on the way recovery finds in the outbox.
type laterAcks struct {
	Pool
	closers *closers

	mu      sync.Mutex
	waiting []Claim // guarded by mu
	busy    bool    // guarded by mu; somebody acks until none waits
}

// maxAcks is how many claims may wait; who comes on top acks his own.
const maxAcks = 10_000

// Ack implements Pool.
func (l *laterAcks) Ack(ctx context.Context, claims []Claim) error {
	if l.take(claims) {
		return nil
	}
	return l.Pool.Ack(ctx, claims)
}

// take tells whether somebody will ack the claims.
func (l *laterAcks) take(claims []Claim) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) >= maxAcks || !l.busy && !l.closers.start(l.run) {
		return false
	}
	l.busy, l.waiting = true, append(l.waiting, claims...)
	return true
}

func (l *laterAcks) run() {
	for claims := l.next(); claims != nil; claims = l.next() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_ = l.Pool.Ack(ctx, claims)
		cancel()
	}
}

// next gives the claims that wait; nil: there are none.
func (l *laterAcks) next() (claims []Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	claims, l.waiting = l.waiting, nil
	l.busy = claims != nil
	return claims
}
