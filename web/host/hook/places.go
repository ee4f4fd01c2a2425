package hook

import (
	"context"
	"errors"
	"sync"
	"time"
)

// places bounds the concurrent questions about one command: over all users, and of each user. So one user cannot hold all places. A
// question waits for a place of its user first, and then for one of all users. Questions get places in the order in which they wait.
type places struct {
	// static
	all     chan struct{} // semaphore
	perUser int
	wait    time.Duration // that a question waits for its places

	mu    sync.Mutex
	users map[string]*userPlaces // guarded by mu; users with a question that has a place or waits for one
}

// userPlaces are the places of one user.
type userPlaces struct {
	taken     chan struct{} // semaphore
	questions int           // guarded by places.mu; with a place or waiting for one
}

func newPlaces(most, perUser int, wait time.Duration) *places {
	return &places{all: make(chan struct{}, most), perUser: perUser, wait: wait, users: map[string]*userPlaces{}}
}

// errFull means that no place was free in time.
var errFull = errors.New("too many questions wait for the host's answers")

// take waits for a place. The caller must call release when the question has ended. The error is errFull, or that of ctx.
func (p *places) take(ctx context.Context, user string) (release func(), err error) {
	own := p.enter(user)
	waiting, cancel := context.WithTimeoutCause(ctx, p.wait, errFull)
	defer cancel()
	if err := acquire(waiting, own.taken); err != nil {
		p.leave(user, own)
		return nil, err
	}
	if err := acquire(waiting, p.all); err != nil {
		<-own.taken
		p.leave(user, own)
		return nil, err
	}
	return func() {
		<-p.all
		<-own.taken
		p.leave(user, own)
	}, nil
}

func acquire(ctx context.Context, semaphore chan struct{}) error {
	select {
	case semaphore <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *places) enter(user string) *userPlaces {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.users[user]
	if own == nil {
		own = &userPlaces{taken: make(chan struct{}, p.perUser)}
		p.users[user] = own
	}
	own.questions++
	return own
}

func (p *places) leave(user string, own *userPlaces) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if own.questions--; own.questions == 0 {
		delete(p.users, user)
	}
}
