package tables

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// Consumer implements eventlog.Consumers.
func (t Tables) Consumer(ctx context.Context, name string) (eventlog.Consumer, error) {
	return read(ctx, t.db, "read consumer", func(q Querier) (eventlog.Consumer, error) {
		return one(q, scanConsumer, `select name, after, updated_at from event_consumers where name = $1`, name)
	})
}

// ConsumerList implements eventlog.Consumers.
func (t Tables) ConsumerList(ctx context.Context, limit int) ([]eventlog.Consumer, error) {
	return list(ctx, t.db, "list consumers", scanConsumer, `select name, after, updated_at from event_consumers order by name limit $1`, limit)
}

var scanConsumer = into(func(c *eventlog.Consumer) []any { return []any{&c.Name, &c.After, Time(&c.UpdatedAt)} })

// PutConsumer implements eventlog.Consumers.
func (t Tables) PutConsumer(ctx context.Context, c eventlog.Consumer) error {
	return exec(ctx, t.db, "store consumer", `insert into event_consumers (name, after, updated_at) values ($1, $2, $3)
		on conflict (name) do update set after = excluded.after, updated_at = excluded.updated_at`, c.Name, c.After, c.UpdatedAt.UnixMilli())
}

// DeleteConsumer implements eventlog.Consumers.
func (t Tables) DeleteConsumer(ctx context.Context, name string) error {
	return Outcome("delete consumer", t.db.Write(ctx, func(w Tx) error {
		changed, err := w.Exec(`delete from event_consumers where name = $1`, name)
		if err == nil && changed == 0 {
			err = chat.ErrNotFound
		}
		return err
	}))
}

// Lease implements eventlog.Consumers.
func (t Tables) Lease(ctx context.Context, consumer, owner string, ttl time.Duration, now time.Time) (c eventlog.Consumer, err error) {
	err = t.db.Write(ctx, func(w Tx) error {
		c = eventlog.Consumer{Name: consumer}
		found, err := w.Row(`insert into event_consumers as c (name, after, updated_at, lease_owner, lease_until)
			values ($1, '', $2, $3, `+w.Clock()+` + $4)
			on conflict (name) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
			where c.lease_owner = $3 or c.lease_until < `+w.Clock()+`
			returning after, updated_at`, []any{consumer, now.UnixMilli(), owner, ttl.Milliseconds()}, &c.After, Time(&c.UpdatedAt))
		if err == nil && !found {
			err = eventlog.ErrLease
		}
		return err
	})
	return c, leaseOutcome("lease consumer", err)
}

// leaseOutcome is Outcome, but lets the error of a lost lease pass.
func leaseOutcome(doing string, err error) error {
	if eventlog.Lost(err) {
		return err
	}
	return Outcome(doing, err)
}

// Advance implements eventlog.Consumers.
func (t Tables) Advance(ctx context.Context, c eventlog.Consumer, before, owner string, held []eventlog.Hold) error {
	return leaseOutcome("advance consumer", t.db.Write(ctx, func(w Tx) error {
		at, no, err := leasedAt(w, c.Name, owner)
		if err != nil || at != before { // moved by an operator, or by an earlier run of this transaction
			return err
		}
		var b Batch
		queueAdvance(&b, c, no+int64(len(held)))
		for i, h := range held {
			b.Exec(`insert into event_holds (consumer, key, no, chain, id, n, first_at, next_at, tries, why, parked)
				values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
				c.Name, h.Key, no+1+int64(i), h.At.Chain, h.At.ID, h.At.N, h.FirstAt.UnixMilli(), h.NextAt.UnixMilli(), h.Tries, h.Why, h.Parked)
		}
		return w.Send(&b)
	}))
}

// leasedAt locks the consumer, and returns its cursor and the number of the event that was held last. It fails if the owner does not have the
// lease.
func leasedAt(w Tx, consumer, owner string) (after string, no int64, err error) {
	var holder string
	_, err = w.Row(`select after, lease_owner, held_no from event_consumers where name = $1`+w.Lock(), []any{consumer}, &after, &holder, &no)
	if err == nil && holder != owner {
		err = eventlog.ErrLease
	}
	return after, no, err
}

// queueAdvance moves the consumer. no is the number of the event that was held last.
func queueAdvance(b *Batch, c eventlog.Consumer, no int64) {
	b.Exec(`update event_consumers set after = $2, updated_at = $3, held_no = $4 where name = $1`, c.Name, c.After, c.UpdatedAt.UnixMilli(), no)
}

// EventsAt implements eventlog.Consumers.
func (t Tables) EventsAt(ctx context.Context, at []eventlog.Position) (found map[eventlog.Position]eventlog.Event, err error) {
	err = t.withState(ctx, func(r StreamReader, state EventState) error {
		stored, err := r.RowsAt(at)
		if err != nil {
			return err
		}
		page := eventlog.Pick(stored, at)
		facts, err := r.Facts(page)
		found = page.Picked(state.Epoch, facts)
		return err
	})
	return found, Outcome("read events", err)
}

// HeldKeys implements eventlog.Consumers.
func (t Tables) HeldKeys(ctx context.Context, consumer string) (keys []string, n int, err error) {
	err = t.db.Read(ctx, func(q Querier) error {
		if keys, err = List(q, ScanText, `select distinct key from event_holds where consumer = $1 and not parked`, consumer); err != nil {
			return err
		}
		_, err = q.Row(`select count(*) from event_holds where consumer = $1 and not parked`, []any{consumer}, &n)
		return err
	})
	return keys, n, Outcome("read held keys", err)
}

const holdColumns = `key, no, chain, id, n, first_at, next_at, tries, parked, why`

var scanHold = into(func(h *eventlog.Hold) []any {
	return []any{&h.Key, &h.No, &h.At.Chain, &h.At.ID, &h.At.N, Time(&h.FirstAt), Time(&h.NextAt), &h.Tries, &h.Parked, &h.Why}
})

// DueHolds implements eventlog.Consumers.
func (t Tables) DueHolds(ctx context.Context, consumer string, now time.Time, limit int) ([]eventlog.Hold, error) {
	return list(ctx, t.db, "read held events", scanHold, `select `+holdColumns+` from event_holds h
		where consumer = $1 and not parked and next_at <= $2
			and no = (select min(no) from event_holds where consumer = h.consumer and key = h.key and not parked)
		order by next_at limit $3`, consumer, now.UnixMilli(), limit)
}

// KeyHolds implements eventlog.Consumers.
func (t Tables) KeyHolds(ctx context.Context, consumer, key string, limit int) ([]eventlog.Hold, error) {
	return list(ctx, t.db, "read held events", scanHold, `select `+holdColumns+` from event_holds where consumer = $1 and key = $2 and not parked order by no limit $3`,
		consumer, key, limit)
}

// ParkedHolds implements eventlog.Consumers.
func (t Tables) ParkedHolds(ctx context.Context, consumer string, after int64, limit int) ([]eventlog.Hold, error) {
	return list(ctx, t.db, "read parked events", scanHold, `select `+holdColumns+` from event_holds where consumer = $1 and parked and no > $2 order by no limit $3`,
		consumer, after, limit)
}

// PutHold implements eventlog.Consumers.
func (t Tables) PutHold(ctx context.Context, consumer string, h eventlog.Hold) error {
	return exec(ctx, t.db, "store held event", `update event_holds set first_at = $4, next_at = $5, tries = $6, parked = $7, why = $8 where consumer = $1 and key = $2 and no = $3`,
		consumer, h.Key, h.No, h.FirstAt.UnixMilli(), h.NextAt.UnixMilli(), h.Tries, h.Parked, h.Why)
}

// DropHold implements eventlog.Consumers.
func (t Tables) DropHold(ctx context.Context, consumer string, h eventlog.Hold) error {
	return exec(ctx, t.db, "delete held event", `delete from event_holds where consumer = $1 and key = $2 and no = $3`, consumer, h.Key, h.No)
}
