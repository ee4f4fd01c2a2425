package hook

import (
	"context"
	"errors"
	"time"

	"hongbao/redpacket/keylock"
)

// places bounds the concurrent questions about one command: over all users, and of each user. So one user cannot hold all places. A
// question waits for a place of its user first, and then for one of all users. Questions get places in the order in which they wait.
type places struct {
	all   chan struct{} // semaphore
	users keylock.Locks // by user
	wait  time.Duration // static; that a question waits for its places
}

func newPlaces(most, perUser int, wait time.Duration) *places {
	return &places{all: make(chan struct{}, most), users: keylock.Locks{Holders: perUser}, wait: wait}
}

// errFull means that no place was free in time.
var errFull = errors.New("too many questions wait for the host's answers")

// take waits for a place, and gets one that is free at once. The caller must call release when the question has ended. The error is
// errFull, or that of ctx.
func (p *places) take(ctx context.Context, user string) (release func(), err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, p.wait, errFull)
	defer cancel()
	leave, err := p.users.Lock(waiting, user)
	if err != nil {
		return nil, err
	}
	if err := keylock.Acquire(waiting, p.all); err != nil {
		leave()
		return nil, err
	}
	return func() {
		<-p.all
		leave()
	}, nil
}
