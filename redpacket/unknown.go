package redpacket

import "sync"

// unknown remembers ids that no packet has, so that guessing does not reach SQL. Ids are made by the server
// when a packet is sent, so one that was unknown once and is asked for again stays unknown.
type unknown struct {
	mu  sync.Mutex
	now map[string]struct{} // guarded by mu
	old map[string]struct{} // guarded by mu
}

// generation is how many ids are kept before the older half is dropped.
const generation = 10_000

func (u *unknown) has(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, inNow := u.now[id]
	_, inOld := u.old[id]
	return inNow || inOld
}

func (u *unknown) add(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now == nil || len(u.now) >= generation {
		u.now, u.old = map[string]struct{}{}, u.now
	}
	u.now[id] = struct{}{}
}
