package batch

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"hongbao/store/tables"
)

// lanes lets a locked or failing row delay the jobs that do not need it only briefly. A job that needs a locked row waits
// in the lane of that row's key, and a job that has failed alone waits in the lane of its second key (Work.Keys): that of its user. The rest of the batch is
// committed. While a lane exists, later jobs that need its row queue behind the first.
//
// Each lane tries all its jobs in order, in transactions of its own (each with at most Work.Most jobs), with a pause if jobs are left. It ends when it is
// empty. A job leaves its lane when it is answered, or when it fails alone: then it moves to the lane of its second key.
//
// The number of lanes, their length, the time that a job waits and the connections in use are bounded.
type lanes[J any] struct {
	slots   chan struct{} // semaphore of the connections in use; static
	running sync.WaitGroup

	mu      sync.Mutex
	open    map[string]*lane[J]  // guarded by mu; by key
	failing map[string]failure   // guarded by mu; by the key of the row of the user whose job failed alone
	starved map[[3]string]streak // guarded by mu; by the keys of a job that failed alone as Exhausted
	wrote   int64                // guarded by mu; number of commits that wrote rows
}

// failure records that jobs of one user failed alone, not only as part of a batch.
type failure struct {
	wrote int64 // value of lanes.wrote when this user's first such failure occurred
	last  time.Time
}

// streak records that the jobs with the same keys have failed as Exhausted several times, while other jobs were committed
// between each two failures.
type streak struct {
	began, last time.Time // of the first and of the last failure
	wrote       int64     // value of lanes.wrote at the last failure
}

// lane holds the jobs that wait for one row.
type lane[J any] struct {
	key     string
	began   time.Time
	waiting []*ticket[J] // guarded by lanes.mu
	trying  int          // number of jobs in the current try; guarded by lanes.mu
}

const (
	maxLanes      = 500                    // of a committer
	maxInLane     = maxBatch               // jobs
	maxFailing    = 1000                   // users, and keys of starved jobs
	maxTries      = 4                      // of a job that fails alone
	shortPause    = 10 * time.Millisecond  // after the first try
	longPause     = 200 * time.Millisecond // upper bound of later pauses
	waitEvery     = 6                      // one in this many tries waits for the locked row; the others skip it
	failureAge    = 10 * time.Second       // older failures do not count
	starvedFor    = 3 * time.Minute        // a job that fails as Exhausted for so long, while others are committed, has a bad row
	starvedGap    = 3 * time.Minute        // a longer pause between two failures ends a streak; claims are tried again each minute
	closePatience = 500 * time.Millisecond // how long jobs may stay in lanes after the store is closed
)

// divert moves each job that needs a row with a lane into that lane, and returns the other jobs.
func (c *Committer[J]) divert(batch []*ticket[J]) []*ticket[J] {
	if c.work.Keys == nil || !c.lanes.anyOpen() {
		return batch
	}
	return slices.DeleteFunc(batch, func(t *ticket[J]) bool {
		key := c.lanes.firstOpen(c.work.Keys(t.job))
		if key != "" {
			c.lanes.add(c, t, key)
		}
		return key != ""
	})
}

func (l *lanes[J]) anyOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) > 0
}

// jobs returns the number of jobs in lanes.
func (l *lanes[J]) jobs() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ln := range l.open {
		n += len(ln.waiting) + ln.trying
	}
	return n
}

// firstOpen returns the first of the keys that has a lane, or "".
func (l *lanes[J]) firstOpen(keys [3]string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		if l.open[key] != nil {
			return key
		}
	}
	return ""
}

// add puts a job into the lane of the key and opens the lane if there is none. If that would be one lane or one job too
// many, it answers the job with chat.ErrUnavailable.
func (l *lanes[J]) add(c *Committer[J], t *ticket[J], key string) {
	now := time.Now()
	if t.until.IsZero() {
		t.until = now.Add(c.work.Patience * 3 / 4)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.open[key]
	switch {
	case ln == nil && len(l.open) >= maxLanes:
		t.answer(tables.Unavailable("wait for a locked row", &BusyError{fmt.Errorf("%d rows are locked, the maximum", maxLanes)}))
		return
	case ln == nil:
		ln = &lane[J]{key: key, began: now}
		l.open[key] = ln
		l.running.Go(func() { c.drain(ln) })
	case len(ln.waiting)+ln.trying >= maxInLane:
		t.answer(tables.Unavailable("wait for a locked row", &BusyError{fmt.Errorf("%d jobs wait for %s, the maximum", maxInLane, key)}))
		return
	}
	ln.waiting = append(ln.waiting, t)
}

// drain is the goroutine of a lane: it tries the lane's jobs until none is left.
func (c *Committer[J]) drain(ln *lane[J]) {
	pause, closing := shortPause, c.closing
	var closed time.Time
	for n := 1; ; n++ {
		batch := c.lanes.takeWaiting(ln)
		if batch == nil {
			break
		}
		// Most tries skip locked rows, so that they hold their slots only briefly. Some tries wait for the row:
		// Postgres gives a contended row to the transactions that queue for it.
		waiting := c.tryInSlot(ln, batch, n%waitEvery != 0)
		if len(waiting) == 0 {
			pause = shortPause
			c.lanes.putBack(ln, nil)
			continue
		}
		select {
		case <-time.After(pause):
		case <-closing:
			closing, closed = nil, time.Now()
		}
		c.lanes.putBack(ln, c.expire(waiting, ln, !closed.IsZero() && time.Since(closed) > closePatience))
		pause = min(2*pause, longPause)
	}
	if lasted := time.Since(ln.began); lasted > time.Second {
		c.log.Info("lane of a locked row closed", "row", ln.key, "after", lasted)
	}
}

// tryInSlot runs the batch as soon as one of the slots for connections is free. It returns the jobs that still must
// wait. Jobs whose time in lanes ends before a slot is free are answered with chat.ErrUnavailable.
func (c *Committer[J]) tryInSlot(ln *lane[J], batch []*ticket[J], skipLocked bool) (waiting []*ticket[J]) {
	for len(batch) > 0 {
		first := slices.MinFunc(batch, func(a, b *ticket[J]) int { return a.until.Compare(b.until) })
		select {
		case c.lanes.slots <- struct{}{}:
			defer func() { <-c.lanes.slots }()
			for some := range slices.Chunk(batch, c.work.Most) {
				waiting = append(waiting, c.commit(some, skipLocked, ln.key, c.halveUntil())...)
			}
			return waiting
		case <-time.After(time.Until(first.until)):
			batch = c.expire(batch, ln, false)
		}
	}
	return nil
}

// takeWaiting removes and returns all jobs that wait in the lane. It returns nil, and removes the lane, if there are
// none.
func (l *lanes[J]) takeWaiting(ln *lane[J]) (batch []*ticket[J]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(ln.waiting) == 0 {
		delete(l.open, ln.key)
		return nil
	}
	batch, ln.waiting, ln.trying = ln.waiting, nil, len(ln.waiting)
	return batch
}

func (l *lanes[J]) putBack(ln *lane[J], waiting []*ticket[J]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln.waiting, ln.trying = append(waiting, ln.waiting...), 0
}

// expire answers the jobs whose time in lanes is over with chat.ErrUnavailable, or all jobs if all is set. It returns the
// jobs that it has not answered.
func (c *Committer[J]) expire(waiting []*ticket[J], ln *lane[J], all bool) []*ticket[J] {
	now, before := time.Now(), len(waiting)
	waiting = slices.DeleteFunc(waiting, func(t *ticket[J]) bool {
		expired := all || !now.Before(t.until)
		if expired {
			t.answer(tables.Unavailable("wait for a locked row", &BusyError{fmt.Errorf("%s stays locked", ln.key)}))
		}
		return expired
	})
	if gone := before - len(waiting); gone > 0 {
		c.log.Warn("row stays locked", "row", ln.key, "since", ln.began, "refused", gone)
	}
	return waiting
}

// retry moves a job that failed alone to the lane of its second key, until it has failed maxTries times. Then it answers the
// job with the error. If other jobs were committed meanwhile, the row is at fault and not the database: then the error
// is a PoisonedError. After the fault Exhausted it is one only if jobs with the same keys have failed so for starvedFor:
// an overloaded machine fails any job, and commits others at the same time. Conflicts with other transactions do not count as failures. If the job is in that lane already,
// retry returns it, and it stays there.
func (c *Committer[J]) retry(t *ticket[J], err error, fault Fault, laneKey string) (waiting []*ticket[J]) {
	key := c.work.Keys(t.job)[1]
	if !fault.isConflict() {
		othersCommitted := c.lanes.failed(key)
		if t.tries++; t.tries >= maxTries {
			if fault == Exhausted {
				othersCommitted = c.lanes.starve(c.work.Keys(t.job))
			}
			if othersCommitted {
				err = &PoisonedError{err}
			}
			c.log.Error("commit failed", "row", key, "tries", t.tries, "others_committed", othersCommitted, "err", err)
			t.answer(err)
			return nil
		}
	}
	if key == laneKey {
		return []*ticket[J]{t}
	}
	c.lanes.add(c, t, key)
	return nil
}

// failed records that a job of the user with this key failed alone. It reports whether other jobs were committed
// since the user's first such failure.
func (l *lanes[J]) failed(key string) (othersCommitted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, again := l.failing[key]
	if again = again && time.Since(f.last) < failureAge; !again {
		for other := range l.failing { // forgets any one: if that user's row is bad, it is only detected later
			if len(l.failing) >= maxFailing {
				delete(l.failing, other)
			}
		}
		f.wrote = l.wrote
	}
	f.last = time.Now()
	l.failing[key] = f
	return again && l.wrote > f.wrote
}

// starve records that a job with these keys failed alone as Exhausted, maxTries times. It reports whether such jobs have failed for
// starvedFor, while other jobs were committed between each two failures.
func (l *lanes[J]) starve(keys [3]string) (lasting bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	s, again := l.starved[keys]
	if !again && len(l.starved) >= maxFailing {
		maps.DeleteFunc(l.starved, func(_ [3]string, s streak) bool { return now.Sub(s.last) > starvedGap })
		if len(l.starved) >= maxFailing {
			return false // so many jobs fail: the machine is the cause
		}
	}
	if !again || now.Sub(s.last) > starvedGap || s.wrote == l.wrote {
		s.began = now
	}
	s.last, s.wrote = now, l.wrote
	l.starved[keys] = s
	return now.Sub(s.began) >= starvedFor
}

// noteCommit counts a commit if it wrote rows, and forgets the failures of the users whose jobs it has done.
func (l *lanes[J]) noteCommit(c *Committer[J], batch []*ticket[J], locked []string) {
	if c.work.Keys == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	done := func(i int) bool { return locked == nil || locked[i] == "" }
	for i, t := range batch {
		if done(i) && c.work.Wrote(t.job) {
			l.wrote++
			break
		}
	}
	if len(l.failing)+len(l.starved) == 0 {
		return
	}
	for i, t := range batch {
		if done(i) {
			keys := c.work.Keys(t.job)
			delete(l.failing, keys[1])
			delete(l.starved, keys)
		}
	}
}

// PoisonedError says that one row is bad: it failed repeatedly while other rows were written.
type PoisonedError struct{ cause error }

func (e *PoisonedError) Error() string { return "row fails repeatedly: " + e.cause.Error() }

func (e *PoisonedError) Unwrap() error { return e.cause }

// BusyError is the error of a call that other calls kept from its rows. It says nothing about the rows.
type BusyError struct{ Err error }

func (e *BusyError) Error() string { return e.Err.Error() }

func (e *BusyError) Unwrap() error { return e.Err }

// Busy tells package redpacket that the call may succeed soon.
func (*BusyError) Busy() bool { return true }
