// Package batch lets many callers share one commit, or one query. It knows no SQL: the caller passes the function that runs
// a batch (Work.Run), and one that judges its errors (Work.Judge).
//
// Invariants:
//
//   - Each job is answered once. A job that is answered without an error is done.
//   - A job that cannot be done delays other jobs only briefly, except those that need the same row (Fault).
//   - Queue and lanes are bounded, and so is the time that a job spends in lanes.
//
// The goroutines:
//
//	goroutine  started by           ends when                     may block on
//	committer  New                  Close, queue and lanes empty  Work.Run
//	lane       a job that must wait no job waits for the row      Work.Run, a slot
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/meter"
	"hongbao/redpacket/trace"
	"hongbao/store/tables"
)

// Committer lets many callers share one commit, or one query. While one transaction commits, the jobs of the next are
// collected.
//
// A job that cannot be done now delays other jobs only briefly, except those that need the same row (see lanes).
type Committer[J any] struct {
	// static after New
	work Work[J]
	log  *slog.Logger

	queue   chan *ticket[J]
	closing chan struct{}
	done    chan struct{}
	lanes   lanes[J]
	batches *meter.Batches
}

// Work defines how a Committer runs its jobs.
type Work[J any] struct {
	Span string // name of the span of a batch
	Most int    // most jobs of a transaction; 0 means maxBatch
	// Run does the jobs in one transaction, or one query, and stores each answer in its job. With skipLocked it does
	// not wait for locked rows, and leaves out the jobs that need them. For each such job it returns the key of the
	// locked row, and "" for the others. A nil list means that no job was left out. After an error, no job counts as
	// done.
	Run func(ctx context.Context, jobs []J, skipLocked bool) (locked []string, err error)
	// Keys returns the keys of the rows that a job locks and that other jobs may need too, or "" for fewer than three. The second is a
	// row that few other jobs need: the wallet or the membership of the job's user, or the packet that it ends. If the function is
	// nil, jobs lock no rows.
	Keys func(job J) [3]string
	// Wrote reports whether a finished job has written rows.
	Wrote func(job J) bool
	// Judge says what an error of Run, or a panic of it, tells about the batch. It must not be nil.
	Judge func(err error) Fault
	// Patience is how long a caller waits for the answer to a job. A job waits in lanes for at most three quarters of it, and a
	// failed batch is halved for at most a quarter, so that callers still get their answers.
	Patience time.Duration
}

// Fault says why a batch failed, and so what a Committer does with it:
//
//	fault       a batch                                  a job that is alone
//	Outage      all its jobs get the error               gets the error
//	RowsLocked  is run again, then without the jobs that waits in the lane of its second key, and is run again
//	            need a locked row; if that fails, halved
//	KeyTaken    is halved                                waits in the lane of its second key, and is run again
//	PassingRow  is halved                                the same, until it has failed maxTries times
//	Exhausted   is halved                                the same
//	LastingRow  is halved                                gets the error
//
// If Work.Keys is nil, jobs lock no rows: RowsLocked and KeyTaken are then an Outage, and a job that is alone gets the error.
//
// PassingRow and Exhausted differ in when a job that fails alone gets a PoisonedError: see Committer.retry.
type Fault int

// The faults; the table above says what each of them does.
const (
	Outage     Fault = iota // no single row is the cause: for example, the database is out of reach
	RowsLocked              // other transactions kept the batch from its rows
	KeyTaken                // another transaction is inserting the same unique key; skipping locked rows does not help
	PassingRow              // one row may be the cause, and its job may succeed later
	Exhausted               // a statement ran out of time, memory or disk: the machine is the cause, and rarely one row
	LastingRow              // one row is the cause, and its job would fail again
)

// String returns the name of the constant.
func (f Fault) String() string {
	return []string{"Outage", "RowsLocked", "KeyTaken", "PassingRow", "Exhausted", "LastingRow"}[f]
}

// isConflict reports whether other transactions caused the fault, so that it says nothing about the row.
func (f Fault) isConflict() bool { return f == RowsLocked || f == KeyTaken }

var (
	errNoAnswer error = &BusyError{errors.New("no answer in time")}

	errClosing = errors.New("store is closing")
	errClosed  = errors.New("store is closed")
)

// ticket is a job in the queue or in a lane, with its result.
type ticket[J any] struct {
	job  J
	err  error
	done chan struct{} // closed when the job is answered

	cause trace.Link // the span that waits for the answer

	until time.Time // when the job gives up waiting in lanes; set when it first enters one
	tries int       // how often the job has failed alone, not as part of a batch; conflicts do not count
}

// maxBatch is the maximum number of jobs in one commit, unless Work.Most is less.
const maxBatch = 500

// New starts a committer. While a lane uses a connection, it holds one of the slots.
func New[J any](w Work[J], slots chan struct{}, log *slog.Logger) *Committer[J] {
	w.Most = cmp.Or(w.Most, maxBatch)
	c := &Committer[J]{
		work: w, log: log, batches: meter.NewBatches(),
		queue: make(chan *ticket[J], maxBatch), closing: make(chan struct{}), done: make(chan struct{}),
		lanes: lanes[J]{slots: slots, open: map[string]*lane[J]{}, failing: map[string]failure{}, starved: map[[3]string]streak{}},
	}
	go c.loop()
	return c
}

// Do queues the job and returns when it is answered: without an error once the commit that contains it is durable. If
// ctx ends or the committer is closed before the job is queued, Do returns an error and the job is not done. Once the
// job is queued, Do waits for its answer even if ctx ends, because otherwise the caller could not know the outcome.
// But it waits for at most answerIn, counted from the call. After that it returns chat.ErrUnavailable: the outcome is unknown, and the
// committer may still write into the job, so the caller must not read it.
func (c *Committer[J]) Do(ctx context.Context, job J) error { return c.DoAll(ctx, []J{job})[0] }

// DoAll does several jobs, which may be committed separately. The errors are in the order of the jobs.
func (c *Committer[J]) DoAll(ctx context.Context, jobs []J) []error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.answerIn(), errNoAnswer)
	defer cancel()
	waiting, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), c.answerIn(), errNoAnswer)
	defer cancel()
	tickets, errs := make([]*ticket[J], len(jobs)), make([]error, len(jobs))
	for i, job := range jobs {
		t := &ticket[J]{job: job, done: make(chan struct{}), cause: trace.From(ctx)}
		if errs[i] = c.enqueue(ctx, t); errs[i] == nil {
			tickets[i] = t
		}
	}
	for i, t := range tickets {
		if t != nil {
			errs[i] = c.answer(waiting, t)
		}
	}
	return errs
}

// DoRead does a job that only reads. It returns early when ctx ends. The committer may then still write into the job,
// so the caller must not read it.
func (c *Committer[J]) DoRead(ctx context.Context, job J) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.answerIn(), errNoAnswer)
	defer cancel()
	t := &ticket[J]{job: job, done: make(chan struct{}), cause: trace.From(ctx)}
	if err := c.enqueue(ctx, t); err != nil {
		return err
	}
	return c.answer(ctx, t)
}

// answerIn is how long a caller waits: patience, and an eighth of it for work that has begun late. A job may wait for a batch that hangs
// for its whole patience, and then hang itself.
func (c *Committer[J]) answerIn() time.Duration { return c.work.Patience * 9 / 8 }

func (c *Committer[J]) enqueue(ctx context.Context, t *ticket[J]) error {
	if err := ctx.Err(); err != nil {
		return tables.Unavailable("queue for commit", err)
	}
	select {
	case <-c.closing: // checked first, because the queue would still accept the job
		return tables.Unavailable("queue for commit", errClosing)
	default:
	}
	select {
	case c.queue <- t:
		return nil
	case <-c.closing:
		return tables.Unavailable("queue for commit", errClosing)
	case <-ctx.Done():
		return tables.Unavailable("queue for commit", context.Cause(ctx))
	}
}

func (c *Committer[J]) answer(ctx context.Context, t *ticket[J]) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return tables.Unavailable("wait for an answer", context.Cause(ctx))
	case <-c.done:
	}
	select { // the committer may have answered the job just before it ended
	case <-t.done:
		return t.err
	default:
		return tables.Unavailable("commit", errClosed)
	}
}

// loop is the goroutine of the committer. It ends after Close, when the queue and the lanes are empty.
func (c *Committer[J]) loop() {
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
		c.commit(c.divert(batch), false, "", c.halveUntil())
		clear(batch)
	}
}

// halveUntil returns when commit must stop halving a batch that begins now.
func (c *Committer[J]) halveUntil() time.Time { return time.Now().Add(c.work.Patience / 4) }

func (c *Committer[J]) fillBatch(batch []*ticket[J]) []*ticket[J] {
	for len(batch) < c.work.Most {
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
// failing job is alone. That job is retried in the lane of its second key. It is answered at once if its row is a LastingRow, or if
// the jobs of this Committer lock no rows. After halveUntil a batch is not halved any more, and all its jobs get the error: if
// so many jobs fail, the database is the cause and not a job.
func (c *Committer[J]) commit(batch []*ticket[J], skipLocked bool, laneKey string, halveUntil time.Time) (waiting []*ticket[J]) {
	if len(batch) == 0 {
		return nil
	}
	locked, err := c.attempt(batch, skipLocked)
	if err == nil {
		return c.finish(batch, locked, laneKey)
	}
	fault := c.work.Judge(err)
	if c.work.Keys == nil && fault.isConflict() {
		fault = Outage
	}
	switch half := len(batch) / 2; {
	case fault == RowsLocked && !skipLocked:
		return c.commit(batch, true, laneKey, halveUntil)
	case half > 0 && fault != Outage && time.Now().Before(halveUntil):
		c.log.Debug("batch halved", "jobs", len(batch), "err", err)
		waiting = c.commit(batch[:half], skipLocked, laneKey, halveUntil)
		return append(waiting, c.commit(batch[half:], skipLocked, laneKey, halveUntil)...)
	case half == 0 && c.work.Keys != nil && (fault.isConflict() || fault == PassingRow || fault == Exhausted):
		return c.retry(batch[0], err, fault, laneKey)
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
func (c *Committer[J]) finish(batch []*ticket[J], locked []string, laneKey string) (waiting []*ticket[J]) {
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
func (c *Committer[J]) attempt(batch []*ticket[J], skipLocked bool) (locked []string, err error) {
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
	span := trace.Batch(c.work.Span, causes)
	span.Number("hongbao.batch", len(batch))
	defer func() { span.End(err) }()
	defer c.batches.Done(len(batch), time.Now())
	return c.work.Run(context.Background(), jobs, skipLocked)
}

// Waiting returns the number of jobs in the queue and in lanes.
func (c *Committer[J]) Waiting() int { return len(c.queue) + c.lanes.jobs() }

// Measured returns the figures of the batches, for the given engine and name.
func (c *Committer[J]) Measured(engine, name string) meter.Work {
	return c.batches.Work(engine, name, c.Waiting())
}

// Close refuses new jobs, and returns when the queued ones are answered and the committer has ended. Jobs that still
// wait in lanes after closePatience are answered with chat.ErrUnavailable.
func (c *Committer[J]) Close() {
	close(c.closing)
	<-c.done
}
