package trail

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxQueue  = 65_536 // refusals that wait to be written; at 200 bytes each, 13 MB
	filterLog = 16     // the filter has 2^filterLog slots, 512 KB
	perRound  = 250    // rows that are written every writeEvery
	perUser   = 100    // rows of a user that an instance writes an hour
	maxUsers  = 65_536 // users whose rows are counted

	writeEvery = 500 * time.Millisecond // with perRound this is 500 rows a second
	dropEvery  = time.Minute
	dropStep   = 1000 // rows that are deleted at once
	storeTime  = 5 * time.Second
)

// Recorder writes the refusals of one instance. It is safe for concurrent use.
type Recorder struct {
	// static
	store Store
	log   *slog.Logger
	now   func() time.Time
	seed  maphash.Seed

	// seen has, by a part of the hash of user, packet and reason, the hash of the refusal that was queued last. Most repeated refusals end here: they
	// take no lock.
	seen [1 << filterLog]atomic.Uint64

	mu    sync.Mutex
	queue []Refusal // guarded by mu

	dropped, written atomic.Int64

	// used by Run only
	hour  time.Time
	users map[string]int // rows of the hour
}

// NewRecorder returns a recorder. Refusals are written while Run runs.
func NewRecorder(store Store, now func() time.Time, log *slog.Logger) *Recorder {
	return &Recorder{store: store, log: log, now: now, seed: maphash.MakeSeed(), users: map[string]int{}}
}

// Refused notes that a grab was refused. It never waits for the database. A refusal of the same user, packet and reason, shortly before, is not noted again.
func (r *Recorder) Refused(user, packet, why string) {
	hash := maphash.String(r.seed, user)*31 ^ maphash.String(r.seed, packet)*17
	if len(why) > len("expired") { // an error; the outcomes differ in their length, and are most of all
		hash ^= maphash.String(r.seed, why)
	} else {
		hash += uint64(len(why))
	}
	slot := &r.seen[hash>>(64-filterLog)]
	if slot.Load() == hash {
		return
	}
	slot.Store(hash)
	at := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) >= maxQueue {
		r.dropped.Add(1)
		return
	}
	r.queue = append(r.queue, Refusal{User: user, Packet: packet, At: at, Why: why})
}

// Stats returns how many refusals were written and dropped since the start.
func (r *Recorder) Stats() (written, dropped int64) { return r.written.Load(), r.dropped.Load() }

// Run writes refusals and deletes old ones until ctx ends. Then it writes once more.
func (r *Recorder) Run(ctx context.Context) {
	write, drop := time.NewTicker(writeEvery), time.NewTicker(dropEvery)
	defer write.Stop()
	defer drop.Stop()
	for {
		select {
		case <-write.C:
			r.write(ctx)
		case <-drop.C:
			r.drop(ctx)
		case <-ctx.Done():
			r.write(context.WithoutCancel(ctx))
			return
		}
	}
}

// write writes the oldest refusals of the queue. If that fails, they are dropped: the database has more urgent work then.
func (r *Recorder) write(ctx context.Context) {
	batch := r.withinBounds(r.take())
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if err := r.store.AddRefusals(ctx, batch); err != nil {
		r.dropped.Add(int64(len(batch)))
		r.log.Warn("refused grabs not stored", "refusals", len(batch), "err", err)
		return
	}
	r.written.Add(int64(len(batch)))
}

// take returns the first refusals of the queue.
func (r *Recorder) take() []Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.queue), perRound)
	batch := r.queue[:n:n]
	if r.queue = r.queue[n:]; len(r.queue) == 0 {
		r.queue = nil
	}
	return batch
}

// withinBounds leaves out refusals of users that have too many rows in this hour.
func (r *Recorder) withinBounds(batch []Refusal) []Refusal {
	if hour := r.now().Truncate(time.Hour); !hour.Equal(r.hour) || len(r.users) >= maxUsers {
		r.hour = hour
		clear(r.users)
	}
	kept := make([]Refusal, 0, len(batch))
	for _, refusal := range batch {
		if r.users[refusal.User] >= perUser {
			r.dropped.Add(1)
			continue
		}
		r.users[refusal.User]++
		kept = append(kept, refusal)
	}
	return kept
}

// drop deletes old refusals in steps.
func (r *Recorder) drop(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := r.dropStep(ctx)
		if err != nil {
			r.log.Warn("old refused grabs not deleted yet", "err", err)
		}
		if err != nil || n < dropStep {
			return
		}
	}
}

func (r *Recorder) dropStep(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	return r.store.DropRefusals(ctx, r.now().Add(-Keep), Most, dropStep)
}
