package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// databaseMillis is the time of the database in Unix milliseconds. The clocks of instances may differ by more than a
// lease lasts.
const databaseMillis = `(extract(epoch from clock_timestamp()) * 1000)::bigint`

// Lease implements eventlog.Consumers.
func (s *Store) Lease(ctx context.Context, consumer, owner string, ttl time.Duration, now time.Time) (c eventlog.Consumer, err error) {
	err = s.tx(ctx, func(w *writer) error {
		c = eventlog.Consumer{Name: consumer}
		found, err := w.Row(`insert into event_consumers as c (name, after, updated_at, lease_owner, lease_until)
			values ($1, '', $2, $3, `+databaseMillis+` + $4)
			on conflict (name) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
			where c.lease_owner = $3 or c.lease_until < `+databaseMillis+`
			returning after, updated_at`, []any{consumer, now.UnixMilli(), owner, ttl.Milliseconds()}, &c.After, tables.Time(&c.UpdatedAt))
		if err == nil && !found {
			err = eventlog.ErrLease
		}
		return err
	})
	return c, leaseOutcome("lease consumer", err)
}

// leaseOutcome is tables.Outcome, but lets the error of a lost lease pass.
func leaseOutcome(doing string, err error) error {
	if eventlog.Lost(err) {
		return err
	}
	return tables.Outcome(doing, err)
}

// Advance implements eventlog.Consumers.
func (s *Store) Advance(ctx context.Context, c eventlog.Consumer, before, owner string, held []eventlog.Hold) error {
	return leaseOutcome("advance consumer", s.tx(ctx, func(w *writer) error {
		var after, holder string
		if _, err := w.Row(`select after, lease_owner from event_consumers where name = $1 for update`, []any{c.Name}, &after, &holder); err != nil {
			return err
		}
		switch {
		case holder != owner:
			return eventlog.ErrLease
		case after != before: // moved by an operator, or by an earlier run of this transaction
			return nil
		}
		var b pgx.Batch
		b.Queue(`update event_consumers set after = $2, updated_at = $3 where name = $1`, c.Name, c.After, c.UpdatedAt.UnixMilli())
		for _, h := range held {
			b.Queue(`insert into event_holds (consumer, key, chain, id, n, first_at, next_at, tries, why, parked)
				values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
				c.Name, h.Key, h.At.Chain, h.At.ID, h.At.N, h.FirstAt.UnixMilli(), h.NextAt.UnixMilli(), h.Tries, h.Why, h.Parked)
		}
		return w.sendBatch(&b)
	}))
}

// EventsAt implements eventlog.Consumers.
func (s *Store) EventsAt(ctx context.Context, at []eventlog.Position) (found map[eventlog.Position]eventlog.Event, err error) {
	numbers, ids := make([]int64, len(at)), make([]int64, len(at))
	for i, p := range at {
		numbers[i], ids[i] = p.Chain, p.ID
	}
	var state eventState
	err = s.withEventState(ctx, &state, func(r reader) error {
		stored, err := tables.List(r, scanEventRow, `select e.chain, e.id, e.at, e.refs
			from (select distinct chain, id from unnest($1::bigint[], $2::bigint[]) i (chain, id)) i
			cross join lateral (select chain, id, at, refs from events where chain = i.chain and id = i.id offset 0) e`, numbers, ids)
		if err != nil {
			return err
		}
		page := eventlog.Pick(stored, at)
		facts, err := r.readFacts(page)
		found = page.Picked(state.epoch, facts)
		return err
	})
	return found, tables.Outcome("read events", err)
}
