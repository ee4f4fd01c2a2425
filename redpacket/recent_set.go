package redpacket

import "sync"

// recentSet holds the ids that were added most recently. When it is full, it drops the older half of them.
type recentSet struct {
	mu  sync.Mutex
	now map[string]struct{} // guarded by mu
	old map[string]struct{} // guarded by mu
}

// generation is half of a recentSet's capacity, in ids.
const generation = 10_000

func (r *recentSet) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, inNow := r.now[id]
	_, inOld := r.old[id]
	return inNow || inOld
}

func (r *recentSet) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || len(r.now) >= generation {
		r.now, r.old = map[string]struct{}{}, r.now
	}
	r.now[id] = struct{}{}
}
