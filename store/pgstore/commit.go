package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"hongbao/chat"
)

// committer lets many callers share one commit, or one query. While one transaction commits, the jobs of the next are
// collected.
//
// A job that cannot be done now delays only the jobs that need the same row (see lanes).
type committer[J any] struct {
	// static after newCommitter
	work[J]
	log *slog.Logger

	queue   chan *ticket[J]
	closing chan struct{}
	done    chan struct{}
	lanes   lanes[J]
}

// work defines how a committer runs its jobs.
type work[J any] struct {
	// run does the jobs in one transaction, or one query, and stores each answer in its job. With skipLocked it does
	// not wait for locked rows, and leaves out the jobs that need them. For each such job it returns the key of the
	// locked row, and "" for the others.
	run func(ctx context.Context, jobs []J, skipLocked bool) (locked []string, err error)
	// keys returns the keys of the rows that a job locks and that other jobs may need too. The second is the row of
	// the job's own user. If the function is nil, jobs lock no rows.
	keys func(job J) [2]string
	// wrote reports whether a finished job has written rows.
	wrote func(job J) bool
}

// ticket is a job in the queue or in a lane, with its result.
type ticket[J any] struct {
	job  J
	err  error
	done chan struct{} // closed when the job is answered

	until time.Time // when the job gives up waiting in lanes; set when it first enters one
	tries int       // how often the job has failed alone, not as part of a batch
}

// maxBatch is the maximum number of jobs in one commit.
const maxBatch = 500

// newCommitter starts a committer. While a lane uses a connection, it holds one of the slots.
func newCommitter[J any](w work[J], slots chan struct{}, log *slog.Logger) *committer[J] {
	c := &committer[J]{
		work: w, log: log,
		queue: make(chan *ticket[J], maxBatch), closing: make(chan struct{}), done: make(chan struct{}),
		lanes: lanes[J]{slots: slots, open: map[string]*lane[J]{}, failing: map[string]failure{}},
	}
	go c.loop()
	return c
}

// do queues the job and returns when the commit that contains it is durable. Once queued, the job is done even if ctx
// ends, because otherwise the caller could not know the outcome.
func (c *committer[J]) do(ctx context.Context, job J) error { return c.doAll(ctx, []J{job})[0] }

// doAll does several jobs, which may be committed separately. The errors are in the order of the jobs.
func (c *committer[J]) doAll(ctx context.Context, jobs []J) []error {
	tickets, errs := make([]*ticket[J], len(jobs)), make([]error, len(jobs))
	for i, job := range jobs {
		t := &ticket[J]{job: job, done: make(chan struct{})}
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
	t := &ticket[J]{job: job, done: make(chan struct{})}
	if err := c.enqueue(ctx, t); err != nil {
		return err
	}
	return c.answer(ctx, t)
}

func (c *committer[J]) enqueue(ctx context.Context, t *ticket[J]) error {
	if err := ctx.Err(); err != nil {
		return unavailable("queue for commit", err)
	}
	select {
	case <-c.closing: // checked first, because the queue would still accept the job
		return unavailable("queue for commit", errors.New("store is closing"))
	default:
	}
	select {
	case c.queue <- t:
		return nil
	case <-c.closing:
		return unavailable("queue for commit", errors.New("store is closing"))
	case <-ctx.Done():
		return unavailable("queue for commit", ctx.Err())
	}
}

func (c *committer[J]) answer(ctx context.Context, t *ticket[J]) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return unavailable("wait for an answer", ctx.Err())
	case <-c.done:
	}
	select { // the committer may have answered the job just before it ended
	case <-t.done:
		return t.err
	default:
		return unavailable("commit", errPoolClosed)
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
// set, the batch comes from that lane: its unfinished jobs stay there, and commit returns them.
//
// If a single row may have caused an error, the batch is halved until the failing job is alone. That job is retried
// in the lane of its user. After halveUntil a batch is not halved any more: so many failing jobs mean that Postgres
// is the cause, not a job.
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
	case half == 0 && (conflict || poisonous(err) && !invalidRow(err) && c.keys != nil):
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

// finish answers the committed jobs. Each other job goes to the lane of its locked row, or is returned to its lane.
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
	for i, t := range batch {
		jobs[i] = t.job
	}
	return c.run(context.Background(), jobs, skipLocked)
}

// close refuses new jobs, lets the queued ones be answered and ends the committer.
func (c *committer[J]) close() {
	close(c.closing)
	<-c.done
}
