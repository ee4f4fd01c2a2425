// Package keylock has locks by key, and Acquire, by which a caller waits for them and for other semaphores. It must always hold: a key that no caller
// holds or waits for takes no memory.
package keylock

import (
	"cmp"
	"context"
	"sync"
)

// Locks is a set of locks, one for each key that a caller holds or waits for. The zero value is ready.
type Locks struct {
	Holders int // static; callers that may hold a key at a time; 0: one

	mu    sync.Mutex
	locks map[string]*lock // guarded by mu
}

// lock is the lock of one key.
type lock struct {
	held  chan struct{} // semaphore
	users int           // guarded by the mu of Locks; callers that hold the lock or wait for it
}

// Lock waits until the caller holds the key, or ctx ends. A free key is held at once, also if ctx has ended. Callers get the key in the
// order in which they wait. After success the caller must call unlock once.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	own := l.use(key)
	if err := Acquire(ctx, own.held); err != nil {
		l.leave(key, own)
		return nil, err
	}
	return func() {
		<-own.held
		l.leave(key, own)
	}, nil
}

// Acquire puts a value into the semaphore. It waits for room until ctx ends, and needs no ctx if there is room: so a caller that was late
// gets what is free.
func Acquire(ctx context.Context, semaphore chan<- struct{}) error {
	select {
	case semaphore <- struct{}{}:
		return nil
	default:
	}
	select {
	case semaphore <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Locks) use(key string) *lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.locks[key]
	if own == nil {
		own = &lock{held: make(chan struct{}, cmp.Or(l.Holders, 1))}
		if l.locks == nil {
			l.locks = map[string]*lock{}
		}
		l.locks[key] = own
	}
	own.users++
	return own
}

func (l *Locks) leave(key string, own *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(l.locks, key)
	}
}
