package lineage

import "sync"

// keptMarks is how many commits a process remembers. Concurrent transactions may record their commits in another order than
// they were committed. The last commit is still among the recorded ones, as long as a process has fewer connections than keptMarks
// (16 by default).
const keptMarks = 64

// Recent holds the newest commits of this process in the present epoch. The zero value is ready. It is safe for
// concurrent use.
type Recent struct {
	mu    sync.Mutex
	epoch int    // guarded by mu; counts the calls of Forget
	marks []Mark // guarded by mu; oldest first
}

// Begin returns a number to be passed to Add. Call it before the transaction begins.
func (r *Recent) Begin() (epoch int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.epoch
}

// Add records a commit, unless Forget was called since its transaction began: the commit may be lost.
func (r *Recent) Add(epoch int, m Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoch != r.epoch {
		return
	}
	if len(r.marks) == keptMarks {
		r.marks = r.marks[:copy(r.marks, r.marks[1:])]
	}
	r.marks = append(r.marks, m)
}

// List returns the recorded commits, oldest first.
func (r *Recent) List() []Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Mark(nil), r.marks...)
}

// Forget drops all recorded commits.
func (r *Recent) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	r.marks = nil
}
