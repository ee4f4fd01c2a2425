// Package keylock has mutexes by key. It must always hold: a key that no caller holds or waits for takes no memory.
package keylock

import (
	"context"
	"sync"
)

// Locks is a set of mutexes, one for each key that a caller holds or waits for. The zero value is ready.
type Locks struct {
	mu    sync.Mutex
	locks map[string]*mutex // guarded by mu
}

// mutex is the mutex of one key.
type mutex struct {
	free  chan struct{} // holds one value while the mutex is free
	users int           // guarded by the mu of Locks; callers that hold it or wait for it
}

// Lock waits until the caller has the mutex of the key, or ctx ends. After success the caller must call unlock once.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	lock := l.use(key)
	select {
	case <-lock.free:
		return func() {
			lock.free <- struct{}{}
			l.leave(key, lock)
		}, nil
	case <-ctx.Done():
		l.leave(key, lock)
		return nil, context.Cause(ctx)
	}
}

func (l *Locks) use(key string) *mutex {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock := l.locks[key]
	if lock == nil {
		lock = &mutex{free: make(chan struct{}, 1)}
		lock.free <- struct{}{}
		if l.locks == nil {
			l.locks = map[string]*mutex{}
		}
		l.locks[key] = lock
	}
	lock.users++
	return lock
}

func (l *Locks) leave(key string, lock *mutex) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lock.users--; lock.users == 0 {
		delete(l.locks, key)
	}
}
