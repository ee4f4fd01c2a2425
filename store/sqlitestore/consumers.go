package sqlitestore

import (
	"context"
	"time"

	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// Lease implements eventlog.Consumers.
func (s *Store) Lease(ctx context.Context, consumer, owner string, ttl time.Duration, now time.Time) (c eventlog.Consumer, err error) {
	err = s.do(ctx, func(w *writer) error {
		c = eventlog.Consumer{Name: consumer}
		at := time.Now()
		found, err := w.Row(`insert into event_consumers (name, after, updated_at, lease_owner, lease_until) values (?1, '', ?2, ?3, ?4)
			on conflict (name) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
			where lease_owner = ?3 or lease_until < ?5
			returning after, updated_at`,
			[]any{consumer, now.UnixMilli(), owner, at.Add(ttl).UnixMilli(), at.UnixMilli()}, &c.After, tables.Time(&c.UpdatedAt))
		if err == nil && !found {
			err = eventlog.ErrLease
		}
		return err
	})
	return c, leaseOutcome("lease consumer", err)
}

// leaseOutcome does what tables.Outcome does, but returns the error of a lost lease unchanged.
func leaseOutcome(doing string, err error) error {
	if eventlog.Lost(err) {
		return err
	}
	return tables.Outcome(doing, err)
}

// Advance implements eventlog.Consumers.
func (s *Store) Advance(ctx context.Context, c eventlog.Consumer, before, owner string, held []eventlog.Hold) error {
	return leaseOutcome("advance consumer", s.do(ctx, func(w *writer) error {
		var after, holder string
		if _, err := w.Row(`select after, lease_owner from event_consumers where name = ?`, []any{c.Name}, &after, &holder); err != nil {
			return err
		}
		switch {
		case holder != owner:
			return eventlog.ErrLease
		case after != before: // moved meanwhile, by an operator or by an earlier attempt of this call
			return nil
		}
		if _, err := w.Exec(`update event_consumers set after = ?, updated_at = ? where name = ?`, c.After, c.UpdatedAt.UnixMilli(), c.Name); err != nil {
			return err
		}
		for _, h := range held {
			if _, err := w.Exec(`insert into event_holds (consumer, key, no, chain, id, n, first_at, next_at, tries, why, parked)
				values (?, ?, coalesce((select max(no) from event_holds), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?)`,
				c.Name, h.Key, h.At.Chain, h.At.ID, h.At.N, h.FirstAt.UnixMilli(), h.NextAt.UnixMilli(), h.Tries, h.Why, h.Parked); err != nil {
				return err
			}
		}
		return nil
	}))
}

// EventsAt implements eventlog.Consumers.
func (s *Store) EventsAt(ctx context.Context, at []eventlog.Position) (found map[eventlog.Position]eventlog.Event, err error) {
	var state eventState
	err = s.withEventState(ctx, &state, func(r reader) error {
		var stored []eventlog.Row
		seen := map[int64]bool{}
		for _, p := range at {
			row := eventlog.Row{Chain: p.Chain, ID: p.ID}
			ok, err := r.Row(`select at, refs from events where chain = ? and id = ?`, []any{p.Chain, p.ID}, tables.Time(&row.At), &row.Refs)
			if err != nil {
				return err
			}
			if ok && !seen[p.ID] {
				seen[p.ID] = true
				stored = append(stored, row)
			}
		}
		page := eventlog.Pick(stored, at)
		facts, err := readFacts(r, page)
		found = page.Picked(state.epoch, facts)
		return err
	})
	return found, tables.Outcome("read events", err)
}
