package chat

import (
	"sync"
	"time"
)

const (
	// repeatEvery and repeatTimes say when the notices of a change with an unknown outcome are repeated: Postgres may commit a change
	// whose caller has given up, for example while a synchronous standby does not answer. Of what is committed later, standingFor bounds
	// cached standings, and the hub compares all rooms each minute.
	repeatEvery = 5 * time.Second
	repeatTimes = 6
	// maxRepeats bounds the users and rooms whose notices are repeated at once. While the database is down, every change has an unknown outcome.
	maxRepeats = 1000
)

// repeats sends the notices of changes again whose outcome is unknown.
type repeats struct {
	tell func(memberKey) // static

	mu      sync.Mutex
	left    map[memberKey]int // guarded by mu; how often each notice is still to be repeated
	timer   *time.Timer       // guarded by mu; nil: left is empty
	stopped bool              // guarded by mu
}

// add has the notice about the user repeated, or that about the room if there is no user, unless maxRepeats others are. It strictly bounds
// the notices, not the changes: those of one user in one room count once.
func (r *repeats) add(k memberKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.left[k]; r.stopped || !known && len(r.left) >= maxRepeats {
		return
	}
	r.left[k] = repeatTimes
	if r.timer == nil {
		r.timer = time.AfterFunc(repeatEvery, r.round)
	}
}

// round repeats each notice once.
func (r *repeats) round() {
	for _, k := range r.due() {
		r.tell(k)
	}
}

// due returns the notices to repeat now, and starts the timer of the next round.
func (r *repeats) due() []memberKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	due := make([]memberKey, 0, len(r.left))
	for k, n := range r.left {
		due = append(due, k)
		if n == 1 {
			delete(r.left, k)
			continue
		}
		r.left[k] = n - 1
	}
	r.timer = nil
	if len(r.left) > 0 {
		r.timer = time.AfterFunc(repeatEvery, r.round)
	}
	return due
}

// stop ends the repeats.
func (r *repeats) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	if r.timer != nil {
		r.timer.Stop()
	}
}
