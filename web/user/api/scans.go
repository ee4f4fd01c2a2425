package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
)

// scans limits the commands of one Commands that scan (made by scanning, such as history and members). It bounds how many of
// them run at once, so that they leave connections to the database for grabs, texts and wallets. The others wait, and the user
// that has read least lately is served next. One user never has all slots, if there are several.
//
// It also bounds the expected wait: the number of waiting commands times how long one runs, divided by how many run at once.
// Beyond this bound a command of the user that has read most is refused. A fixed rate would have to be chosen anew for each
// machine, database and length of a page; this bound need not.
type scans struct {
	slots   int           // static: how many may run at once
	maxWait time.Duration // static: bound of the expected wait; 0: none

	mu      sync.Mutex         // guards the fields below
	free    int                // slots that are free
	average time.Duration      // moving average of how long a command runs
	readers map[string]*reader // users that wait or have read lately
	turns   []*reader          // users with waiting commands; of those that have read equally, the first is served next
	waiting int                // number of waiting commands of all users
	pruneAt int                // number of readers at which pruneLocked is called
	refused uint64             // commands refused so far
}

// reader is a user of commands that scan.
type reader struct {
	running int       // commands that run
	wornOff time.Time // when the user counts again as one that has read nothing
	waiting []*waiter // in the order of arrival
}

// waiter is a command that waits.
type waiter struct {
	done    chan struct{}   // closed when the command may start or is refused
	refused *chat.RateError // set before done is closed; nil: the command may start
}

const (
	// wearsOff is how many seconds a read of one second counts against its user. So the reads of a user wear off if
	// the user's commands run for less than 1/20 of the time.
	wearsOff = 20
	// longestWearing bounds how long the reads of a user count.
	longestWearing = time.Minute
	// leastRun is how long a command counts in the average at least. So the bound of the expected wait also bounds how many wait.
	leastRun = time.Millisecond
	// mostRun is how long a command counts in the average at most. So commands are not refused for long after an outage of
	// the database.
	mostRun = time.Second
	// averageWeight is the weight of the moving average: the newest command counts for 1/16.
	averageWeight = 16
	// searchesAtOnce is how many searches run at once on an instance: a search may keep a core busy for some 200 ms. As one user never has all
	// slots, the searches of a user run one after the other.
	searchesAtOnce = 2
	// minReaders is the least value of scans.pruneAt.
	minReaders = 1024
)

func newScans(slots int, maxWait time.Duration) *scans {
	return &scans{slots: slots, maxWait: maxWait, free: slots, average: leastRun, readers: map[string]*reader{}, pruneAt: minReaders}
}

// acquire waits until a command of the user may run. If it returns no error, the caller must call release.
func (s *scans) acquire(ctx context.Context, user string) (release func(), err error) {
	w := s.enter(user)
	select {
	case <-w.done:
	case <-ctx.Done():
		if s.leave(user, w) {
			return nil, fmt.Errorf("%w: too many reads at once: %w", chat.ErrUnavailable, ctx.Err())
		}
		<-w.done // the command was started or refused in the meantime
	}
	if w.refused != nil {
		return nil, w.refused
	}
	began := time.Now()
	return func() { s.release(user, time.Since(began)) }, nil
}

// enter starts a command, makes it wait or refuses it. If the expected wait is over its bound, one command is refused: the newest of
// the user that has read most.
func (s *scans) enter(user string) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, r := &waiter{done: make(chan struct{})}, s.readerLocked(user)
	if s.free > 0 && s.mayRunLocked(r) {
		s.free--
		r.running++
		close(w.done)
		return w
	}
	if len(r.waiting) == 0 {
		s.turns = append(s.turns, r)
	}
	r.waiting = append(r.waiting, w)
	s.waiting++
	if wait := s.expectedLocked(); s.maxWait > 0 && wait > s.maxWait {
		most := s.mostLocked()
		newest := most.waiting[len(most.waiting)-1]
		newest.refused = &chat.RateError{After: wait + rand.N(wait)} //nolint:gosec // jitter, so that refused clients do not return together
		s.removeLocked(most, len(most.waiting)-1)
		close(newest.done)
		s.refused++
	}
	return w
}

// mayRunLocked reports whether a command of the user may start in a free slot. The last slot is for others.
func (s *scans) mayRunLocked(r *reader) bool { return r.running < max(1, s.slots-1) }

// expectedLocked returns how long the last of the waiting commands is expected to wait. One user alone does not get all slots.
func (s *scans) expectedLocked() time.Duration {
	slots := s.slots
	if len(s.turns) == 1 {
		slots = max(1, slots-1)
	}
	return s.average * time.Duration(s.waiting) / time.Duration(slots)
}

func (s *scans) readerLocked(user string) *reader {
	if len(s.readers) >= s.pruneAt {
		s.pruneLocked()
	}
	r := s.readers[user]
	if r == nil {
		r = &reader{}
		s.readers[user] = r
	}
	return r
}

// pruneLocked forgets the users that have no commands and count as users that have read nothing.
func (s *scans) pruneLocked() {
	now, kept := time.Now(), map[string]*reader{} // a new map frees the memory of a large one
	for user, r := range s.readers {
		if r.running > 0 || len(r.waiting) > 0 || r.wornOff.After(now) {
			kept[user] = r
		}
	}
	s.readers, s.pruneAt = kept, max(minReaders, 2*len(kept))
}

// mostLocked returns the waiting user that has read most, counting its waiting commands as read.
func (s *scans) mostLocked() (most *reader) {
	now, highest := time.Now(), time.Duration(-1)
	for _, r := range slices.Backward(s.turns) { // of equals the newest
		use := max(r.wornOff.Sub(now), 0) + time.Duration(len(r.waiting))*s.average*wearsOff
		if use > highest {
			most, highest = r, use
		}
	}
	return most
}

// leastLocked returns the waiting user that has read least, of those that may run a command.
func (s *scans) leastLocked() (least *reader) {
	now := time.Now()
	for _, r := range s.turns { // of equals the first
		if !s.mayRunLocked(r) {
			continue
		}
		if least == nil || r.wornOff.Before(least.wornOff) && least.wornOff.After(now) {
			least = r
		}
	}
	return least
}

// removeLocked removes a waiting command of a user, and the user's turn if it was the last one.
func (s *scans) removeLocked(r *reader, i int) {
	r.waiting = slices.Delete(r.waiting, i, i+1)
	s.waiting--
	if len(r.waiting) == 0 {
		t := slices.Index(s.turns, r)
		s.turns = slices.Delete(s.turns, t, t+1)
	}
}

// leave removes a waiting command. It returns false if the command was started or refused.
func (s *scans) leave(user string, w *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.readers[user]
	if r == nil {
		return false
	}
	i := slices.Index(r.waiting, w)
	if i >= 0 {
		s.removeLocked(r, i)
	}
	return i >= 0
}

// release ends a command of the user that ran for the given time. It starts the next waiting command, or else frees the slot.
func (s *scans) release(user string, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.average += (min(max(took, leastRun), mostRun) - s.average) / averageWeight
	now, r := time.Now(), s.readerLocked(user)
	r.running--
	if r.wornOff.Before(now) {
		r.wornOff = now
	}
	r.wornOff = r.wornOff.Add(wearsOff * took)
	if latest := now.Add(longestWearing); r.wornOff.After(latest) {
		r.wornOff = latest
	}
	next := s.leastLocked()
	if next == nil {
		s.free++
		return
	}
	next.running++
	close(next.waiting[0].done)
	s.removeLocked(next, 0)
	if len(next.waiting) > 0 { // the user's turn comes again after the turns of the others
		t := slices.Index(s.turns, next)
		s.turns = append(slices.Delete(s.turns, t, t+1), next)
	}
}

// Scans returns how many commands that scan wait now, and how many were refused so far because too many waited.
func (a *Commands) Scans() (waiting int, refused uint64) {
	for _, s := range []*scans{a.scans, a.searches} {
		s.mu.Lock()
		waiting, refused = waiting+s.waiting, refused+s.refused
		s.mu.Unlock()
	}
	return waiting, refused
}

// Begin waits until the request may run. The caller must call end, if it is not nil, when the reply is queued or the command is
// given up. A request that scans is counted against its user's budget before it waits for other scans. Call Begin before
// Answer. It may be called again after end, and then does not count the request again.
func (a *Commands) Begin(ctx context.Context, c Caller, r *Request) (end func(), err error) {
	if !r.Scans() {
		return nil, nil
	}
	if err := a.spend(ctx, c, r); err != nil {
		return nil, err
	}
	if !r.command.searches {
		return a.scans.acquire(ctx, c.User.ID)
	}
	endSearch, err := a.searches.acquire(ctx, c.User.ID)
	if err != nil {
		return nil, err
	}
	endScan, err := a.scans.acquire(ctx, c.User.ID) // a search that waits for others of its user has no slot here
	if err != nil {
		endSearch()
		return nil, err
	}
	return func() {
		endScan()
		endSearch()
	}, nil
}
