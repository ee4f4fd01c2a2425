package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"hongbao/chat"
)

// committer lets many callers share one commit, or one query. While one transaction is committing, the jobs of the next gather.
type committer[J any] struct {
	// static after newCommitter
	run func(ctx context.Context, jobs []J) error // one transaction, or query; it leaves each job's answer in the job
	log *slog.Logger

	queue   chan *ticket[J]
	closing chan struct{}
	done    chan struct{}
}

// ticket is a job in the queue.
type ticket[J any] struct {
	job  J
	err  error
	done chan struct{} // closed when the job is answered
}

// gather is how many jobs at most share one commit.
const gather = 500

func newCommitter[J any](run func(ctx context.Context, jobs []J) error, log *slog.Logger) *committer[J] {
	c := &committer[J]{
		run: run, log: log,
		queue: make(chan *ticket[J], gather), closing: make(chan struct{}), done: make(chan struct{}),
	}
	go c.loop()
	return c
}

// do has the job run and returns when the commit that it shares is durable. Once queued a job is never abandoned:
// nobody could say what became of it.
func (c *committer[J]) do(ctx context.Context, job J) error { return c.doAll(ctx, []J{job})[0] }

// doAll is do for several jobs, which need not share the same commit. The errors are in the order of the jobs.
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

// ask is do for a job that changes nothing: nobody needs to know what becomes of it when its caller has gone. Then the job is
// the committer's, and must not be looked at.
func (c *committer[J]) ask(ctx context.Context, job J) error {
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
	case <-c.closing: // before the queue, which would take it
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
	select { // the committer may have answered just before it ended
	case <-t.done:
		return t.err
	default:
		return unavailable("commit", errPoolClosed)
	}
}

// loop is the committer's goroutine: it ends after close, when the queue is empty.
func (c *committer[J]) loop() {
	defer close(c.done)
	batch := make([]*ticket[J], 0, gather)
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
		batch = c.gatherMore(batch)
		c.commit(batch)
		clear(batch)
	}
}

func (c *committer[J]) gatherMore(batch []*ticket[J]) []*ticket[J] {
	for len(batch) < gather {
		select {
		case t := <-c.queue:
			batch = append(batch, t)
		default:
			return batch
		}
	}
	return batch
}

// commit runs the batch and answers it. Where one of its rows may be to blame, it halves the batch until that one
// fails alone.
func (c *committer[J]) commit(batch []*ticket[J]) {
	jobs := make([]J, len(batch))
	for i, t := range batch {
		jobs[i] = t.job
	}
	err := c.attempt(jobs)
	if half := len(batch) / 2; half > 0 && err != nil && poisonous(err) {
		c.log.Debug("batch is halved", "jobs", len(batch), "err", err)
		c.commit(batch[:half])
		c.commit(batch[half:])
		return
	}
	if err != nil && !errors.Is(err, chat.ErrUnavailable) {
		c.log.Error("commit failed", "jobs", len(batch), "err", err)
	}
	for _, t := range batch {
		t.err = err
		close(t.done)
	}
}

// attempt turns a panic into an error, so that it costs neither the committer nor the process.
func (c *committer[J]) attempt(jobs []J) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in a batch", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in a batch: %v", p)
		}
	}()
	return c.run(context.Background(), jobs)
}

// close answers what is queued and ends the committer.
func (c *committer[J]) close() {
	close(c.closing)
	<-c.done
}
