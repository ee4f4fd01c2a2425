package redpacket

import (
	"sync"
	"time"
)

// retries records failures by key, and when each key may be tried again. The pauses of a key double from least up to
// most. The number of keys is bounded: a failed key for which there is no room is not recorded, and so has no pause.
type retries[K comparable] struct {
	// static
	least, most time.Duration
	capacity    int

	mu     sync.Mutex
	failed map[K]retry // guarded by mu
}

// retry is the record of one failed key.
type retry struct {
	at    time.Time
	pause time.Duration // the pause that ends at the time at
}

// paused reports whether k has failed and must not be tried again yet.
func (r *retries[K]) paused(k K, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, found := r.failed[k]
	return found && now.Before(f.at)
}

// fail records that k has failed now, and doubles its pause.
func (r *retries[K]) fail(k K, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, found := r.failed[k]
	if !found && len(r.failed) >= r.capacity {
		return
	}
	if r.failed == nil {
		r.failed = map[K]retry{}
	}
	f.pause = min(max(2*f.pause, r.least), r.most)
	f.at = now.Add(f.pause)
	r.failed[k] = f
}

// forget removes the record of k, because k has succeeded or does not exist any more.
func (r *retries[K]) forget(k K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failed, k)
}

// expire removes keys whose pause ended longer than most ago. Nobody has tried them again, so they do not exist any
// more.
func (r *retries[K]) expire(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, f := range r.failed {
		if now.After(f.at.Add(r.most)) {
			delete(r.failed, k)
		}
	}
}

// count returns the number of recorded keys.
func (r *retries[K]) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failed)
}
