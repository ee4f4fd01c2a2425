package redpacket

import (
	"context"
	"sync"
)

// asyncAcks is a Pool whose Ack does not block: it queues the claims, and a background goroutine passes them to the
// wrapped Pool. Claims that are queued during one call of the Pool go together in its next call. Claims that are lost
// when the process dies stay in the outbox, where recovery finds them.
type asyncAcks struct {
	Pool
	background *background

	mu      sync.Mutex
	waiting []Claim // guarded by mu
	busy    bool    // guarded by mu; a goroutine acks until the queue is empty
}

// maxAcks bounds the queue, in claims. When the queue is full, Ack calls the wrapped Pool itself and blocks.
const maxAcks = 10_000

// Ack implements Pool.
func (l *asyncAcks) Ack(ctx context.Context, claims []Claim) error {
	if l.take(claims) {
		return nil
	}
	return l.Pool.Ack(ctx, claims)
}

// take queues the claims. It reports false if the caller must ack them itself.
func (l *asyncAcks) take(claims []Claim) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) >= maxAcks || !l.busy && !l.background.start(l.run) {
		return false
	}
	l.busy, l.waiting = true, append(l.waiting, claims...)
	return true
}

func (l *asyncAcks) run() {
	for claims := l.next(); claims != nil; claims = l.next() {
		ctx, cancel := context.WithTimeout(context.Background(), detachedTimeout)
		_ = l.Pool.Ack(ctx, claims)
		cancel()
	}
}

// next returns the queued claims, or nil when there are none.
func (l *asyncAcks) next() (claims []Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	claims, l.waiting = l.waiting, nil
	l.busy = claims != nil
	return claims
}
