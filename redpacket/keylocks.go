package redpacket

import (
	"context"
	"sync"
)

// keyLocks is a set of mutexes, one for each key that a caller holds or waits for. The zero value is ready.
type keyLocks struct {
	mu    sync.Mutex
	locks map[string]*keyLock // guarded by mu
}

// keyLock is the mutex of one key.
type keyLock struct {
	free  chan struct{} // holds one value while the mutex is free
	users int           // guarded by the mu of keyLocks; callers that hold it or wait for it
}

// lock waits until the caller has the mutex of the key, or ctx ends. After success the caller must call unlock once.
func (l *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	lock := l.use(key)
	select {
	case <-lock.free:
		return func() {
			lock.free <- struct{}{}
			l.leave(key, lock)
		}, nil
	case <-ctx.Done():
		l.leave(key, lock)
		return nil, ctx.Err()
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
