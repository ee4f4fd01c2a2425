package trail

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxQueue  = 65_536 // rows that wait to be written; at 200 bytes each, 13 MB
	perRound  = 250    // rows that are written every writeEvery
	perUser   = 100    // rows of a user that an instance writes an hour
	maxUsers  = 65_536 // users whose rows are counted
	dropStep  = 1000   // rows that are deleted at once
	storeTime = 5 * time.Second
)

// journal is the way of one kind of rows into the database.
type journal[T any] struct {
	// static
	what string         // for the log
	of   func(T) string // whose row it is
	add  func(ctx context.Context, rows []T) error
	drop func(ctx context.Context, before time.Time, most, limit int) (int, error)
	now  func() time.Time
	log  *slog.Logger

	mu    sync.Mutex
	queue []T // guarded by mu

	dropped, written atomic.Int64

	// used by Recorder.Run only
	hour  time.Time
	users map[string]int // rows of the hour
}

// put queues a row. If the queue is full, the row is dropped.
func (j *journal[T]) put(row T) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.queue) >= maxQueue {
		j.dropped.Add(1)
		return
	}
	j.queue = append(j.queue, row)
}

func (j *journal[T]) counts() (written, dropped int64) { return j.written.Load(), j.dropped.Load() }

// waits reports whether a row waits to be written.
func (j *journal[T]) waits() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.queue) > 0
}

// write writes the oldest rows of the queue. If that fails, they are dropped: the database has more urgent work then.
func (j *journal[T]) write(ctx context.Context) {
	batch := j.withinBounds(j.take())
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if err := j.add(ctx, batch); err != nil {
		j.dropped.Add(int64(len(batch)))
		j.log.Warn(j.what+" not stored", "rows", len(batch), "err", err)
		return
	}
	j.written.Add(int64(len(batch)))
}

// take returns the first rows of the queue.
func (j *journal[T]) take() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := min(len(j.queue), perRound)
	batch := j.queue[:n:n]
	if j.queue = j.queue[n:]; len(j.queue) == 0 {
		j.queue = nil
	}
	return batch
}

// withinBounds leaves out rows of users that have too many in this hour.
func (j *journal[T]) withinBounds(batch []T) []T {
	if hour := j.now().Truncate(time.Hour); !hour.Equal(j.hour) || len(j.users) >= maxUsers {
		j.hour = hour
		clear(j.users)
	}
	kept := make([]T, 0, len(batch))
	for _, row := range batch {
		user := j.of(row)
		if j.users[user] >= perUser {
			j.dropped.Add(1)
			continue
		}
		j.users[user]++
		kept = append(kept, row)
	}
	return kept
}

// dropOld deletes old rows in steps.
func (j *journal[T]) dropOld(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := j.dropStep(ctx)
		if err != nil {
			j.log.Warn("old "+j.what+" not deleted yet", "err", err)
		}
		if err != nil || n < dropStep {
			return
		}
	}
}

func (j *journal[T]) dropStep(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	return j.drop(ctx, j.now().Add(-Keep), Most, dropStep)
}
