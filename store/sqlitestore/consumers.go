package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// Consumer implements eventlog.Consumers.
func (s *Store) Consumer(ctx context.Context, name string) (eventlog.Consumer, error) {
	c := eventlog.Consumer{Name: name}
	found, err := reader{ctx, s.read}.row(`select after, updated_at from event_consumers where name = ?`, []any{name}, &c.After, storedTime{&c.UpdatedAt})
	if err == nil && !found {
		err = chat.ErrNotFound
	}
	return c, outcome("read consumer", err)
}

// ConsumerList implements eventlog.Consumers.
func (s *Store) ConsumerList(ctx context.Context, limit int) ([]eventlog.Consumer, error) {
	list, err := rows(reader{ctx, s.read}, func(rs *sql.Rows) (c eventlog.Consumer, err error) {
		err = rs.Scan(&c.Name, &c.After, storedTime{&c.UpdatedAt})
		return c, err
	}, `select name, after, updated_at from event_consumers order by name limit ?`, limit)
	return list, outcome("list consumers", err)
}

// PutConsumer implements eventlog.Consumers.
func (s *Store) PutConsumer(ctx context.Context, c eventlog.Consumer) error {
	return outcome("store consumer", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`insert into event_consumers (name, after, updated_at) values (?, ?, ?)
			on conflict (name) do update set after = excluded.after, updated_at = excluded.updated_at`, c.Name, c.After, c.UpdatedAt.UnixMilli())
		return err
	}))
}

// Lease implements eventlog.Consumers.
func (s *Store) Lease(ctx context.Context, consumer, owner string, ttl time.Duration, now time.Time) (c eventlog.Consumer, err error) {
	err = s.do(ctx, func(w *writer) error {
		c = eventlog.Consumer{Name: consumer}
		at := time.Now()
		found, err := w.row(`insert into event_consumers (name, after, updated_at, lease_owner, lease_until) values (?1, '', ?2, ?3, ?4)
			on conflict (name) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
			where lease_owner = ?3 or lease_until < ?5
			returning after, updated_at`,
			[]any{consumer, now.UnixMilli(), owner, at.Add(ttl).UnixMilli(), at.UnixMilli()}, &c.After, storedTime{&c.UpdatedAt})
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
	return leaseOutcome("advance consumer", s.do(ctx, func(w *writer) error {
		var after, holder string
		if _, err := w.row(`select after, lease_owner from event_consumers where name = ?`, []any{c.Name}, &after, &holder); err != nil {
			return err
		}
		switch {
		case holder != owner:
			return eventlog.ErrLease
		case after != before: // moved by an operator
			return nil
		}
		if _, err := w.exec(`update event_consumers set after = ?, updated_at = ? where name = ?`, c.After, c.UpdatedAt.UnixMilli(), c.Name); err != nil {
			return err
		}
		for _, h := range held {
			if _, err := w.exec(`insert into event_holds (consumer, key, no, chain, id, n, first_at, next_at, tries, why, parked)
				values (?, ?, coalesce((select max(no) from event_holds), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?)`,
				c.Name, h.Key, h.At.Chain, h.At.ID, h.At.N, h.FirstAt.UnixMilli(), h.NextAt.UnixMilli(), h.Tries, h.Why, h.Parked); err != nil {
				return err
			}
		}
		return nil
	}))
}

// HeldKeys implements eventlog.Consumers.
func (s *Store) HeldKeys(ctx context.Context, consumer string) (keys []string, n int, err error) {
	r := reader{ctx, s.read}
	keys, err = rows(r, scanID, `select distinct key from event_holds where consumer = ? and not parked`, consumer)
	if err == nil {
		_, err = r.row(`select count(*) from event_holds where consumer = ? and not parked`, []any{consumer}, &n)
	}
	return keys, n, outcome("read held keys", err)
}

const holdColumns = `key, no, chain, id, n, first_at, next_at, tries, parked, why`

func scanHold(rs *sql.Rows) (h eventlog.Hold, err error) {
	err = rs.Scan(&h.Key, &h.No, &h.At.Chain, &h.At.ID, &h.At.N, storedTime{&h.FirstAt}, storedTime{&h.NextAt}, &h.Tries, &h.Parked, &h.Why)
	return h, err
}

// DueHolds implements eventlog.Consumers.
func (s *Store) DueHolds(ctx context.Context, consumer string, now time.Time, limit int) ([]eventlog.Hold, error) {
	due, err := rows(reader{ctx, s.read}, scanHold, `select `+holdColumns+` from event_holds h
		where consumer = ?1 and not parked and next_at <= ?2
			and no = (select min(no) from event_holds where consumer = h.consumer and key = h.key and not parked)
		order by next_at limit ?3`, consumer, now.UnixMilli(), limit)
	return due, outcome("read held events", err)
}

// KeyHolds implements eventlog.Consumers.
func (s *Store) KeyHolds(ctx context.Context, consumer, key string, limit int) ([]eventlog.Hold, error) {
	holds, err := rows(reader{ctx, s.read}, scanHold, `select `+holdColumns+` from event_holds where consumer = ? and key = ? and not parked order by no limit ?`,
		consumer, key, limit)
	return holds, outcome("read held events", err)
}

// ParkedHolds implements eventlog.Consumers.
func (s *Store) ParkedHolds(ctx context.Context, consumer string, after int64, limit int) ([]eventlog.Hold, error) {
	parked, err := rows(reader{ctx, s.read}, scanHold, `select `+holdColumns+` from event_holds where consumer = ? and parked and no > ? order by no limit ?`,
		consumer, after, limit)
	return parked, outcome("read parked events", err)
}

// PutHold implements eventlog.Consumers.
func (s *Store) PutHold(ctx context.Context, consumer string, h eventlog.Hold) error {
	return outcome("store held event", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`update event_holds set first_at = ?, next_at = ?, tries = ?, parked = ?, why = ? where consumer = ? and key = ? and no = ?`,
			h.FirstAt.UnixMilli(), h.NextAt.UnixMilli(), h.Tries, h.Parked, h.Why, consumer, h.Key, h.No)
		return err
	}))
}

// DropHold implements eventlog.Consumers.
func (s *Store) DropHold(ctx context.Context, consumer string, h eventlog.Hold) error {
	return outcome("delete held event", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`delete from event_holds where consumer = ? and key = ? and no = ?`, consumer, h.Key, h.No)
		return err
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
			ok, err := r.row(`select at, refs from events where chain = ? and id = ?`, []any{p.Chain, p.ID}, storedTime{&row.At}, &row.Refs)
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
	return found, outcome("read events", err)
}
