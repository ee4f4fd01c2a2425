package chart

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"hongbao/redpacket/meter"
)

const storeTime = 5 * time.Second // limit of one call to the database

// Reading is what an instance knows at a moment.
type Reading struct {
	Counts

	Sockets      int64
	Took         meter.Counts // seconds that grabs took that won
	Open, Escrow int64        // or Unknown
}

// Recorder writes the figures of one instance.
type Recorder struct {
	// static
	store    Store
	instance string
	read     func() Reading
	now      func() time.Time
	log      *slog.Logger
}

// NewRecorder returns a recorder. Figures are written while Run runs.
func NewRecorder(store Store, instance string, read func() Reading, now func() time.Time, log *slog.Logger) *Recorder {
	return &Recorder{store: store, instance: instance, read: read, now: now, log: log}
}

// Run writes the figures of each step until ctx ends. A step during which the instance has started is as short as it was.
func (r *Recorder) Run(ctx context.Context) {
	last := r.read()
	for {
		began := r.now().Truncate(Step)
		select {
		case <-time.After(began.Add(Step).Sub(r.now())):
		case <-ctx.Done():
			return
		}
		reading := r.read()
		r.write(ctx, began, reading.since(last))
		last = reading
	}
}

// since returns the figures of a step that began with the other reading and ended with this one.
func (r Reading) since(before Reading) Figures {
	took := r.Took.Since(before.Took)
	p99 := took.Quantile(0.99)
	if p99 == 0 && took.Count > 0 { // it is beyond the last bound
		p99 = slices.Max(slices.Collect(maps.Keys(took.Buckets)))
	}
	return Figures{Counts: r.Counts.since(before.Counts), Sockets: r.Sockets, P99: time.Duration(p99 * float64(time.Second)), Open: r.Open, Escrow: r.Escrow}
}

func (r *Recorder) write(ctx context.Context, at time.Time, f Figures) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if err := r.store.AddFigures(ctx, r.instance, at, f, at.Add(-Keep)); err != nil {
		r.log.Warn("figures of the charts not stored", "step", at, "err", err)
	}
}
