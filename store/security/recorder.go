package security

import (
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"
)

const (
	maxNames   = 64                  // origins counted by name for each kind and minute; all further origins are counted together
	maxWaiting = 60 * 3 * maxNames   // counts that wait for the database; if there are more, the oldest are dropped
	maxRequest = 2000                // bytes of an act's request
	retention  = 30 * 24 * time.Hour // of counts
	storeTime  = 5 * time.Second     // limit of one call to the database
	others     = "others"
	actsAtOnce = 1000 // old acts that are deleted each minute
)

// LeastKept is the smallest number of days for which acts are kept.
const LeastKept = 90

// Recorder records the acts and counts of one instance. It is safe for concurrent use.
type Recorder struct {
	// immutable after NewRecorder
	store    Store
	instance string
	now      func() time.Time
	log      *slog.Logger
	keepActs int // days; 0: for ever

	mu      sync.Mutex
	minute  time.Time                   // guarded by mu; start of the minute that is counted
	names   map[string]map[string]int64 // guarded by mu; counts of the minute, by kind and name
	waiting []Count                     // guarded by mu; of past minutes, not stored yet
	totals  map[string]int64            // guarded by mu; by kind, since the start
	acts    int64                       // guarded by mu; stored since the start
}

// NewRecorder returns a recorder. Counts are stored, and acts older than keepActs days are deleted, while Run runs. If keepActs is 0, acts are kept for
// ever; otherwise it must be at least LeastKept.
func NewRecorder(store Store, instance string, keepActs int, now func() time.Time, log *slog.Logger) *Recorder {
	return &Recorder{
		store: store, instance: instance, now: now, log: log, keepActs: keepActs,
		minute: now().Truncate(time.Minute), names: map[string]map[string]int64{}, totals: map[string]int64{},
	}
}

// ActsAfter returns the acts after the cursor that are older than before, oldest first. See Store.
func (r *Recorder) ActsAfter(ctx context.Context, after string, before time.Time, limit int) (acts []Act, next string, err error) {
	return r.store.ActsAfter(ctx, after, before, limit)
}

// ActsBefore returns the acts before the cursor, newest first. See Store.
func (r *Recorder) ActsBefore(ctx context.Context, before string, limit int) (acts []Act, next string, err error) {
	return r.store.ActsBefore(ctx, before, limit)
}

// Count counts one event. It never waits for the database.
func (r *Recorder) Count(kind, origin string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endMinuteLocked()
	r.totals[kind]++
	names := r.names[kind]
	if names == nil {
		names = map[string]int64{}
		r.names[kind] = names
	}
	if _, known := names[origin]; !known && len(names) >= maxNames {
		origin = others
	}
	names[origin]++
}

// Act stores and logs an act, with at most maxRequest bytes of its request. After an error the act must not be carried out.
func (r *Recorder) Act(ctx context.Context, actor, client, method string, request []byte) error {
	return r.Record(ctx, Act{Actor: actor, Client: client, Method: method, Request: string(request)})
}

// Record is Act for an act that also has a request ID and a reason. It sets ID, At and Instance.
func (r *Recorder) Record(ctx context.Context, a Act) error {
	a.ID, a.At, a.Instance = rand.Text(), r.now(), r.instance
	a.Request = strings.ReplaceAll(strings.ToValidUTF8(a.Request[:min(len(a.Request), maxRequest)], "\uFFFD"), "\x00", "\uFFFD")
	if err := r.store.AddAct(ctx, a); err != nil {
		return err
	}
	r.mu.Lock()
	r.acts++
	r.mu.Unlock()
	r.log.Info("act of an administrator", "actor", a.Actor, "person", a.Person, "client", a.Client, "method", a.Method, "request", a.Request, "act", a.ID,
		"request_id", a.RequestID, "reason", a.Reason)
	return nil
}

// Totals returns the counts by kind, and of acts, since the start.
func (r *Recorder) Totals() (kinds map[string]int64, acts int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.totals), r.acts
}

// Run stores the counts of each minute when it is over, until ctx ends. Then it stores those of the minute that is not over.
func (r *Recorder) Run(ctx context.Context) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.mu.Lock()
			r.endMinuteLocked()
			r.mu.Unlock()
			r.save(ctx)
			r.dropActs(ctx)
		case <-ctx.Done():
			r.mu.Lock()
			r.endMinuteLocked()
			r.closeMinuteLocked()
			r.mu.Unlock()
			r.save(context.WithoutCancel(ctx))
			return
		}
	}
}

// dropActs deletes some of the acts that are too old.
func (r *Recorder) dropActs(ctx context.Context) {
	if r.keepActs == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if err := r.store.DropActs(ctx, r.now().AddDate(0, 0, -r.keepActs), actsAtOnce); err != nil {
		r.log.Warn("old acts not deleted yet", "err", err)
	}
}

// endMinuteLocked moves the counts to waiting if their minute is over.
func (r *Recorder) endMinuteLocked() {
	if now := r.now().Truncate(time.Minute); now.After(r.minute) {
		r.closeMinuteLocked()
		r.minute = now
	}
}

func (r *Recorder) closeMinuteLocked() {
	for kind, names := range r.names {
		for origin, n := range names {
			r.waiting = append(r.waiting, Count{Minute: r.minute, Instance: r.instance, Kind: kind, Origin: origin, N: n})
			r.log.Info("security count", "kind", kind, "origin", origin, "count", n, "minute", r.minute)
		}
	}
	r.waiting = newest(r.waiting)
	clear(r.names)
}

// newest returns the last maxWaiting of the counts.
func newest(counts []Count) []Count { return counts[max(0, len(counts)-maxWaiting):] }

// save stores the waiting counts, and then deletes old ones from the database. Without waiting counts it does nothing. Counts
// that cannot be stored wait for the next call. Only Run calls it.
func (r *Recorder) save(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	r.mu.Lock()
	counts := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	if len(counts) == 0 {
		return
	}
	if err := r.store.AddCounts(ctx, counts); err != nil {
		r.log.Warn("security counts not stored yet", "counts", len(counts), "err", err)
		r.mu.Lock()
		r.waiting = newest(append(counts, r.waiting...))
		r.mu.Unlock()
		return
	}
	if err := r.store.DropCounts(ctx, r.now().Add(-retention)); err != nil {
		r.log.Warn("old security counts not deleted yet", "err", err)
	}
}
