package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/meter"
	"hongbao/redpacket/trace"
	"hongbao/store/tables"
)

// committer lets many callers share one commit, or one query. While one transaction commits, the jobs of the next are
// collected.
//
// A job that cannot be done now delays other jobs only briefly, except those that need the same row (see lanes).
type committer[J any] struct {
	// static after newCommitter
	work[J]
	log *slog.Logger

	queue   chan *ticket[J]
	closing chan struct{}
	done    chan struct{}
	lanes   lanes[J]
	batches *meter.Batches
}

// work defines how a committer runs its jobs.
type work[J any] struct {
	span string // name of the span of a batch
	// run does the jobs in one transaction, or one query, and stores each answer in its job. With skipLocked it does
	// not wait for locked rows, and leaves out the jobs that need them. For each such job it returns the key of the
	// locked row, and "" for the others. A nil list means that no job was left out. After an error, no job counts as
	// done.
	run func(ctx context.Context, jobs []J, skipLocked bool) (locked []string, err error)
	// keys returns the keys of the rows that a job locks and that other jobs may need too. The second is a row of
	// the job's own user: the wallet or the membership. If the function is nil, jobs lock no rows.
	keys func(job J) [2]string
	// wrote reports whether a finished job has written rows.
	wrote func(job J) bool
}

// ticket is a job in the queue or in a lane, with its result.
type ticket[J any] struct {
	job  J
	err  error
	done chan struct{} // closed when the job is answered

	cause trace.Link // the span that waits for the answer

	until time.Time // when the job gives up waiting in lanes; set when it first enters one
	tries int       // how often the job has failed alone, not as part of a batch; conflicts do not count
}

// maxBatch is the maximum number of jobs in one commit.
const maxBatch = 500

// newCommitter starts a committer. While a lane uses a connection, it holds one of the slots.
func newCommitter[J any](w work[J], slots chan struct{}, log *slog.Logger) *committer[J] {
	c := &committer[J]{
		work: w, log: log, batches: meter.NewBatches(),
		queue: make(chan *ticket[J], maxBatch), closing: make(chan struct{}), done: make(chan struct{}),
		lanes: lanes[J]{slots: slots, open: map[string]*lane[J]{}, failing: map[string]failure{}},
	}
	go c.loop()
	return c
}

// do queues the job and returns when it is answered: without an error once the commit that contains it is durable. If
// ctx ends or the committer is closed before the job is queued, do returns an error and the job is not done. Once the
// job is queued, do waits for its answer even if ctx ends, because otherwise the caller could not know the outcome.
func (c *committer[J]) do(ctx context.Context, job J) error { return c.doAll(ctx, []J{job})[0] }

// doAll does several jobs, which may be committed separately. The errors are in the order of the jobs.
func (c *committer[J]) doAll(ctx context.Context, jobs []J) []error {
	tickets, errs := make([]*ticket[J], len(jobs)), make([]error, len(jobs))
	for i, job := range jobs {
		t := &ticket[J]{job: job, done: make(chan struct{}), cause: trace.From(ctx)}
		if errs[i] = c.enqueue(ctx, t); errs[i] == nil {
			tickets[i] = t
		}
	}
	for i, t := range tickets {
		if t != nil {
			errs[i] = c.answer(context.Background(), t)
		}
	}
	return errs
}

// doRead does a job that only reads. It returns early when ctx ends. The committer may then still write into the job,
// so the caller must not read it.
func (c *committer[J]) doRead(ctx context.Context, job J) error {
	t := &ticket[J]{job: job, done: make(chan struct{}), cause: trace.From(ctx)}
	if err := c.enqueue(ctx, t); err != nil {
		return err
	}
	return c.answer(ctx, t)
}

func (c *committer[J]) enqueue(ctx context.Context, t *ticket[J]) error {
	if err := ctx.Err(); err != nil {
		return tables.Unavailable("queue for commit", err)
	}
	select {
	case <-c.closing: // checked first, because the queue would still accept the job
		return tables.Unavailable("queue for commit", errors.New("store is closing"))
	default:
	}
	select {
	case c.queue <- t:
		return nil
	case <-c.closing:
		return tables.Unavailable("queue for commit", errors.New("store is closing"))
	case <-ctx.Done():
		return tables.Unavailable("queue for commit", ctx.Err())
	}
}

func (c *committer[J]) answer(ctx context.Context, t *ticket[J]) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return tables.Unavailable("wait for an answer", ctx.Err())
	case <-c.done:
	}
	select { // the committer may have answered the job just before it ended
	case <-t.done:
		return t.err
	default:
		return tables.Unavailable("commit", errPoolClosed)
	}
}

// loop is the goroutine of the committer. It ends after close, when the queue and the lanes are empty.
func (c *committer[J]) loop() {
	defer close(c.done)
	defer c.lanes.running.Wait()
	batch := make([]*ticket[J], 0, maxBatch)
	for {
		select {
		case t := <-c.queue:
			batch = append(batch[:0], t)
		case <-c.closing:
			select {
			case t := <-c.queue:
				batch = append(batch[:0], t)
			default:
				return
			}
		}
		batch = c.fillBatch(batch)
		c.commit(c.divert(batch), false, "", time.Now().Add(maxHalving))
		clear(batch)
	}
}

func (c *committer[J]) fillBatch(batch []*ticket[J]) []*ticket[J] {
	for len(batch) < maxBatch {
		select {
		case t := <-c.queue:
			batch = append(batch, t)
		default:
			return batch
		}
	}
	return batch
}

// commit runs the batch and answers its jobs. Jobs that need a locked row move to the lane of that row. If laneKey is
// set, the batch comes from that lane: its jobs that need a locked row stay there, and commit returns them.
//
// If a single row may have caused an error, or other transactions keep the batch from its rows, the batch is halved until the
// failing job is alone. That job is retried in the lane of its user. It is answered at once if Postgres will always refuse its
// row (invalidRow) or cannot reach it (workerDown), or if the jobs of this committer lock no rows. After halveUntil a batch is
// not halved any more, and all its jobs get the error: if so many jobs fail, Postgres is the cause and not a job.
func (c *committer[J]) commit(batch []*ticket[J], skipLocked bool, laneKey string, halveUntil time.Time) (waiting []*ticket[J]) {
	if len(batch) == 0 {
		return nil
	}
	locked, err := c.attempt(batch, skipLocked)
	conflict := contended(err) && c.keys != nil
	switch half := len(batch) / 2; {
	case err == nil:
		return c.finish(batch, locked, laneKey)
	case conflict && !skipLocked && !errors.Is(err, errKeyTaken):
		return c.commit(batch, true, laneKey, halveUntil)
	case half > 0 && (conflict || poisonous(err)) && time.Now().Before(halveUntil):
		c.log.Debug("batch halved", "jobs", len(batch), "err", err)
		waiting = c.commit(batch[:half], skipLocked, laneKey, halveUntil)
		return append(waiting, c.commit(batch[half:], skipLocked, laneKey, halveUntil)...)
	case half == 0 && (conflict || poisonous(err) && !invalidRow(err) && !workerDown(err) && c.keys != nil):
		return c.retry(batch[0], err, laneKey)
	}
	if !errors.Is(err, chat.ErrUnavailable) {
		c.log.Error("commit failed", "jobs", len(batch), "err", err)
	}
	for _, t := range batch {
		t.answer(err)
	}
	return nil
}

// finish answers the committed jobs. Each other job goes to the lane of its locked row. If the batch comes from a lane,
// finish returns these jobs instead, and they stay in that lane.
func (c *committer[J]) finish(batch []*ticket[J], locked []string, laneKey string) (waiting []*ticket[J]) {
	c.lanes.noteCommit(c, batch, locked)
	for i, t := range batch {
		switch {
		case locked == nil || locked[i] == "":
			t.answer(nil)
		case laneKey != "": // whichever row is locked, the job keeps its position in the lane
			waiting = append(waiting, t)
		default:
			c.lanes.add(c, t, locked[i])
		}
	}
	return waiting
}

func (t *ticket[J]) answer(err error) {
	t.err = err
	close(t.done)
}

// attempt runs the batch. It returns a panic as an error, so that a panic ends neither the committer nor the process.
func (c *committer[J]) attempt(batch []*ticket[J], skipLocked bool) (locked []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in a batch", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in a batch: %v", p)
		}
	}()
	jobs := make([]J, len(batch))
	var causes []trace.Link
	for i, t := range batch {
		jobs[i] = t.job
		if !t.cause.IsZero() {
			causes = append(causes, t.cause)
		}
	}
	span := trace.Batch(c.span, causes)
	span.Number("hongbao.batch", len(batch))
	defer func() { span.End(err) }()
	defer c.batches.Done(len(batch), time.Now())
	return c.run(context.Background(), jobs, skipLocked)
}

// close refuses new jobs, and returns when the queued ones are answered and the committer has ended. Jobs that still
// wait in lanes after closePatience are answered with chat.ErrUnavailable.
func (c *committer[J]) close() {
	close(c.closing)
	<-c.done
}

// lanes lets a locked or failing row delay the jobs that do not need it only briefly. A job that needs a locked row waits
// in the lane of that row's key, and a job that has failed alone waits in the lane of its user. The rest of the batch is
// committed. While a lane exists, later jobs that need its row queue behind the first.
//
// Each lane tries all its jobs in order, in transactions of its own, with a pause if jobs are left. It ends when it is
// empty. A job leaves its lane when it is answered, or when it fails alone: then it moves to the lane of its user.
//
// The number of lanes, their length, the time that a job waits and the connections in use are bounded.
type lanes[J any] struct {
	slots   chan struct{} // semaphore of the connections in use; static
	running sync.WaitGroup

	mu      sync.Mutex
	open    map[string]*lane[J] // guarded by mu; by key
	failing map[string]failure  // guarded by mu; by the key of the row of the user whose job failed alone
	wrote   int64               // guarded by mu; number of commits that wrote rows
}

// failure records that jobs of one user failed alone, not only as part of a batch.
type failure struct {
	wrote int64 // value of lanes.wrote when this user's first such failure occurred
	last  time.Time
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
	maxFailing    = 1000                   // users
	maxTries      = 4                      // of a job that fails alone
	lanePatience  = patience * 3 / 4       // shorter than patience, so that the caller gets the answer in time
	shortPause    = 10 * time.Millisecond  // after the first try
	longPause     = 200 * time.Millisecond // upper bound of later pauses
	waitEvery     = 6                      // one in this many tries waits for the locked row; the others skip it
	maxHalving    = time.Second            // how long commit may go on halving a failed batch
	failureAge    = 10 * time.Second       // older failures do not count
	closePatience = 500 * time.Millisecond // how long jobs may stay in lanes after the store is closed
)

// divert moves each job that needs a row with a lane into that lane, and returns the other jobs.
func (c *committer[J]) divert(batch []*ticket[J]) []*ticket[J] {
	if c.keys == nil || !c.lanes.anyOpen() {
		return batch
	}
	return slices.DeleteFunc(batch, func(t *ticket[J]) bool {
		key := c.lanes.firstOpen(c.keys(t.job))
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

// firstOpen returns the first of the keys that has a lane, or "".
func (l *lanes[J]) firstOpen(keys [2]string) string {
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
func (l *lanes[J]) add(c *committer[J], t *ticket[J], key string) {
	now := time.Now()
	if t.until.IsZero() {
		t.until = now.Add(lanePatience)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.open[key]
	switch {
	case ln == nil && len(l.open) >= maxLanes:
		t.answer(tables.Unavailable("wait for a locked row", fmt.Errorf("%d rows are locked, the maximum", maxLanes)))
		return
	case ln == nil:
		ln = &lane[J]{key: key, began: now}
		l.open[key] = ln
		l.running.Go(func() { c.drain(ln) })
	case len(ln.waiting)+ln.trying >= maxInLane:
		t.answer(tables.Unavailable("wait for a locked row", fmt.Errorf("%d jobs wait for %s, the maximum", maxInLane, key)))
		return
	}
	ln.waiting = append(ln.waiting, t)
}

// drain is the goroutine of a lane: it tries the lane's jobs until none is left.
func (c *committer[J]) drain(ln *lane[J]) {
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
func (c *committer[J]) tryInSlot(ln *lane[J], batch []*ticket[J], skipLocked bool) (waiting []*ticket[J]) {
	for len(batch) > 0 {
		first := slices.MinFunc(batch, func(a, b *ticket[J]) int { return a.until.Compare(b.until) })
		select {
		case c.lanes.slots <- struct{}{}:
			defer func() { <-c.lanes.slots }()
			return c.commit(batch, skipLocked, ln.key, time.Now().Add(maxHalving))
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
func (c *committer[J]) expire(waiting []*ticket[J], ln *lane[J], all bool) []*ticket[J] {
	now, before := time.Now(), len(waiting)
	waiting = slices.DeleteFunc(waiting, func(t *ticket[J]) bool {
		expired := all || !now.Before(t.until)
		if expired {
			t.answer(tables.Unavailable("wait for a locked row", fmt.Errorf("%s stays locked", ln.key)))
		}
		return expired
	})
	if gone := before - len(waiting); gone > 0 {
		c.log.Warn("row stays locked", "row", ln.key, "since", ln.began, "refused", gone)
	}
	return waiting
}

// retry moves a job that failed alone to the lane of its user, until it has failed maxTries times. Then it answers the
// job with the error. If other jobs were committed meanwhile, the row is at fault and not the database: then the error
// is a poisonedError. Conflicts with other transactions do not count as failures. If the job is in that lane already,
// retry returns it, and it stays there.
func (c *committer[J]) retry(t *ticket[J], err error, laneKey string) (waiting []*ticket[J]) {
	key := c.keys(t.job)[1]
	if !contended(err) {
		othersCommitted := c.lanes.failed(key)
		if t.tries++; t.tries >= maxTries {
			if othersCommitted {
				err = &poisonedError{err}
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

// noteCommit counts a commit if it wrote rows, and forgets the failures of the users whose jobs it has done.
func (l *lanes[J]) noteCommit(c *committer[J], batch []*ticket[J], locked []string) {
	if c.keys == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	done := func(i int) bool { return locked == nil || locked[i] == "" }
	for i, t := range batch {
		if done(i) && c.wrote(t.job) {
			l.wrote++
			break
		}
	}
	if len(l.failing) == 0 {
		return
	}
	for i, t := range batch {
		if done(i) {
			delete(l.failing, c.keys(t.job)[1])
		}
	}
}

// poisonedError says that one row is bad: it failed repeatedly while other rows were written.
type poisonedError struct{ cause error }

func (e *poisonedError) Error() string { return "row fails repeatedly: " + e.cause.Error() }

func (e *poisonedError) Unwrap() error { return e.cause }
