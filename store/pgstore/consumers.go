package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// Consumer implements eventlog.Consumers.
func (s *Store) Consumer(ctx context.Context, name string) (c eventlog.Consumer, err error) {
	err = s.withReader(ctx, func(r reader) error {
		c = eventlog.Consumer{Name: name}
		found, err := r.row(`select after, updated_at from event_consumers where name = $1`, []any{name}, &c.After, storedTime{&c.UpdatedAt})
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		return err
	})
	return c, outcome("read consumer", err)
}

// ConsumerList implements eventlog.Consumers.
func (s *Store) ConsumerList(ctx context.Context, limit int) (list []eventlog.Consumer, err error) {
	err = s.withReader(ctx, func(r reader) error {
		list, err = rows(r, func(rs pgx.Rows) (c eventlog.Consumer, err error) {
			err = rs.Scan(&c.Name, &c.After, storedTime{&c.UpdatedAt})
			return c, err
		}, `select name, after, updated_at from event_consumers order by name limit $1`, limit)
		return err
	})
	return list, outcome("list consumers", err)
}

// PutConsumer implements eventlog.Consumers.
func (s *Store) PutConsumer(ctx context.Context, c eventlog.Consumer) error {
	return outcome("store consumer", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`insert into event_consumers (name, after, updated_at) values ($1, $2, $3)
			on conflict (name) do update set after = excluded.after, updated_at = excluded.updated_at`, c.Name, c.After, c.UpdatedAt.UnixMilli())
		return err
	}))
}

// databaseMillis is the time of the database: the clocks of instances may differ by more than a lease lasts.
const databaseMillis = `(extract(epoch from clock_timestamp()) * 1000)::bigint`

// Lease implements eventlog.Consumers.
func (s *Store) Lease(ctx context.Context, consumer, owner string, ttl time.Duration, now time.Time) (c eventlog.Consumer, err error) {
	err = s.tx(ctx, func(w *writer) error {
		c = eventlog.Consumer{Name: consumer}
		found, err := w.row(`insert into event_consumers as c (name, after, updated_at, lease_owner, lease_until)
			values ($1, '', $2, $3, `+databaseMillis+` + $4)
			on conflict (name) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
			where c.lease_owner = $3 or c.lease_until < `+databaseMillis+`
			returning after, updated_at`, []any{consumer, now.UnixMilli(), owner, ttl.Milliseconds()}, &c.After, storedTime{&c.UpdatedAt})
		if err == nil && !found {
			err = eventlog.ErrLease
		}
		return err
	})
	return c, leaseOutcome("lease consumer", err)
}

// leaseOutcome is outcome, and lets the error of a lost lease pass.
func leaseOutcome(doing string, err error) error {
	if eventlog.Lost(err) {
		return err
	}
	return outcome(doing, err)
}

// Advance implements eventlog.Consumers.
func (s *Store) Advance(ctx context.Context, c eventlog.Consumer, before, owner string, held []eventlog.Hold) error {
	return leaseOutcome("advance consumer", s.tx(ctx, func(w *writer) error {
		var after, holder string
		if _, err := w.row(`select after, lease_owner from event_consumers where name = $1 for update`, []any{c.Name}, &after, &holder); err != nil {
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

// HeldKeys implements eventlog.Consumers.
func (s *Store) HeldKeys(ctx context.Context, consumer string) (keys []string, n int, err error) {
	err = s.withReader(ctx, func(r reader) error {
		keys, err = rows(r, scanText, `select distinct key from event_holds where consumer = $1 and not parked`, consumer)
		if err == nil {
			_, err = r.row(`select count(*) from event_holds where consumer = $1 and not parked`, []any{consumer}, &n)
		}
		return err
	})
	return keys, n, outcome("read held keys", err)
}

const holdColumns = `key, no, chain, id, n, first_at, next_at, tries, parked, why`

func scanHold(rs pgx.Rows) (h eventlog.Hold, err error) {
	err = rs.Scan(&h.Key, &h.No, &h.At.Chain, &h.At.ID, &h.At.N, storedTime{&h.FirstAt}, storedTime{&h.NextAt}, &h.Tries, &h.Parked, &h.Why)
	return h, err
}

// DueHolds implements eventlog.Consumers.
func (s *Store) DueHolds(ctx context.Context, consumer string, now time.Time, limit int) (due []eventlog.Hold, err error) {
	err = s.withReader(ctx, func(r reader) error {
		due, err = rows(r, scanHold, `select `+holdColumns+` from (
				select distinct on (key) `+holdColumns+` from event_holds where consumer = $1 and not parked order by key, no) oldest
			where next_at <= $2 order by next_at limit $3`, consumer, now.UnixMilli(), limit)
		return err
	})
	return due, outcome("read held events", err)
}

// KeyHolds implements eventlog.Consumers.
func (s *Store) KeyHolds(ctx context.Context, consumer, key string, limit int) (holds []eventlog.Hold, err error) {
	err = s.withReader(ctx, func(r reader) error {
		holds, err = rows(r, scanHold, `select `+holdColumns+` from event_holds where consumer = $1 and key = $2 and not parked order by no limit $3`,
			consumer, key, limit)
		return err
	})
	return holds, outcome("read held events", err)
}

// ParkedHolds implements eventlog.Consumers.
func (s *Store) ParkedHolds(ctx context.Context, consumer string, after int64, limit int) (parked []eventlog.Hold, err error) {
	err = s.withReader(ctx, func(r reader) error {
		parked, err = rows(r, scanHold, `select `+holdColumns+` from event_holds where consumer = $1 and parked and no > $2 order by no limit $3`,
			consumer, after, limit)
		return err
	})
	return parked, outcome("read parked events", err)
}

// PutHold implements eventlog.Consumers.
func (s *Store) PutHold(ctx context.Context, consumer string, h eventlog.Hold) error {
	return outcome("store held event", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`update event_holds set first_at = $4, next_at = $5, tries = $6, parked = $7, why = $8 where consumer = $1 and key = $2 and no = $3`,
			consumer, h.Key, h.No, h.FirstAt.UnixMilli(), h.NextAt.UnixMilli(), h.Tries, h.Parked, h.Why)
		return err
	}))
}

// DropHold implements eventlog.Consumers.
func (s *Store) DropHold(ctx context.Context, consumer string, h eventlog.Hold) error {
	return outcome("delete held event", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`delete from event_holds where consumer = $1 and key = $2 and no = $3`, consumer, h.Key, h.No)
		return err
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
		stored, err := rows(r, scanEventRow, `select e.chain, e.id, e.at, e.refs
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
	return found, outcome("read events", err)
}
