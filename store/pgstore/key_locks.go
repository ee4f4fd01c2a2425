package pgstore

import (
	"context"
	"fmt"
	"sync"
)

// keyLocks is a set of mutexes, one for each key. Without it, many sends of one user would take all connections only
// to wait for that user's row. The zero value is ready.
type keyLocks struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

// keyLock is the mutex of one key. It exists while a caller holds it or waits for it.
type keyLock struct {
	free  chan struct{} // holds one value while the mutex is free
	users int
}

// lock waits until the caller has the mutex of the key. It fails when ctx or patience ends. The caller must call
// unlock.
func (l *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	lock := l.use(key)
	select {
	case <-lock.free:
		return func() {
			lock.free <- struct{}{}
			l.leave(key, lock)
		}, nil
	case <-ctx.Done():
		l.leave(key, lock)
		return nil, fmt.Errorf("earlier calls for %q have not ended: %w", key, context.Cause(ctx))
	}
}

func (l *keyLocks) use(key string) *keyLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock := l.locks[key]
	if lock == nil {
		lock = &keyLock{free: make(chan struct{}, 1)}
		lock.free <- struct{}{}
		if l.locks == nil {
			l.locks = map[string]*keyLock{}
		}
		l.locks[key] = lock
	}
	lock.users++
	return lock
}

func (l *keyLocks) leave(key string, lock *keyLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lock.users--; lock.users == 0 {
		delete(l.locks, key)
	}
}
