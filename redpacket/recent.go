package redpacket

import "sync"

// recent remembers what was added last, and forgets the oldest half when it has too much.
type recent struct {
	mu  sync.Mutex
	now map[string]struct{} // guarded by mu
	old map[string]struct{} // guarded by mu
}

// generation is how much is kept before the older half is dropped.
const generation = 10_000

func (r *recent) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, inNow := r.now[id]
	_, inOld := r.old[id]
	return inNow || inOld
}

func (r *recent) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || len(r.now) >= generation {
		r.now, r.old = map[string]struct{}{}, r.now
	}
	r.now[id] = struct{}{}
}
