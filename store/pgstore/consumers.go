package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
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

// UnreadBy implements chat.Store.
func (s *Store) UnreadBy(ctx context.Context, u chat.Unread) (users []string, err error) {
	err = s.withReader(ctx, func(r reader) error {
		query := `select user_id from members where room_id = $1 and state = 'in' and read_seq < $2 and not silent and user_id <> $3 and user_id > $4
			order by user_id limit $5`
		args := []any{u.Room, u.Seq, u.Sender, u.After, u.Limit}
		if u.Among != nil {
			query = `select user_id from members where room_id = $1 and state = 'in' and read_seq < $2 and not silent and user_id <> $3 and user_id > $4
				and user_id = any($6) order by user_id limit $5`
			args = append(args, u.Among)
		}
		users, err = tables.List(r, tables.ScanText, query, args...)
		return err
	})
	return users, tables.Outcome("read members that have not read", err)
}

const newsColumns = `user_id, room_id, seq, row_id, reason, count, due_at`

func scanAbsence(rs tables.Row) (a eventlog.Absence, err error) {
	err = rs.Scan(&a.User, &a.Room, &a.Seq, &a.Row, &a.Reason, &a.Count, tables.Time(&a.Due))
	return a, err
}

// absenceColumns are absences as arguments of unnest.
type absenceColumns struct {
	buckets, seqs, rows, counts, dues []int64
	users, rooms, reasons             []string
}

func columnsOf(absences []eventlog.Absence) (c absenceColumns) {
	for _, a := range absences {
		c.buckets, c.users, c.rooms = append(c.buckets, int64(chat.UserBucket(a.User))), append(c.users, a.User), append(c.rooms, a.Room)
		c.seqs, c.rows, c.reasons = append(c.seqs, a.Seq), append(c.rows, a.Row), append(c.reasons, a.Reason)
		c.counts, c.dues = append(c.counts, int64(a.Count)), append(c.dues, a.Due.UnixMilli())
	}
	return c
}

// TellAbsences implements eventlog.Absences.
func (s *Store) TellAbsences(ctx context.Context, t eventlog.Told) error {
	eventlog.SortAbsences(t.Absences)
	return leaseOutcome("tell absent users", s.tx(ctx, func(w *writer) error {
		if _, err := w.Exec(`select from event_consumers where name = $1 for update`, eventlog.AbsentConsumer); err != nil {
			return err
		}
		var after, holder string
		if _, err := w.Row(`select after, lease_owner from event_consumers where name = $1 for update`, []any{t.Name}, &after, &holder); err != nil {
			return err
		}
		switch {
		case holder != t.Owner:
			return eventlog.ErrLease
		case after != t.Before: // moved since, in most cases by an earlier run of this transaction
			return nil
		}
		if _, err := w.Exec(`update event_consumers set after = $2, updated_at = $3 where name = $1`, t.Name, t.After, t.UpdatedAt.UnixMilli()); err != nil {
			return err
		}
		if len(t.Absences) == 0 {
			return nil
		}
		c := columnsOf(t.Absences)
		const found = `unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::int[]) h (bucket, user_id, room_id, seq, row_id, reason, count)`
		args := []any{c.buckets, c.users, c.rooms, c.seqs, c.rows, c.reasons, c.counts}
		if _, err := w.Exec(`update offline_news n set room_id = h.room_id, seq = h.seq, row_id = h.row_id, reason = h.reason, count = n.count + h.count
			from `+found+` where n.bucket = h.bucket and n.user_id = h.user_id and (not $8 or n.row_id < h.row_id)`, append(args, t.Again)...); err != nil {
			return err
		}
		told, err := tables.List(w, tables.ScanText, `insert into offline_news (bucket, user_id, room_id, seq, row_id, reason, count, due_at)
			select bucket, user_id, room_id, seq, row_id, reason, 0, $8 from `+found+` order by user_id
			on conflict do nothing returning user_id`, append(args, t.Due.UnixMilli())...)
		if err != nil {
			return err
		}
		w.refs.Offline(eventlog.Among(t.Absences, told))
		return nil
	}))
}

// DueAbsences implements eventlog.Absences.
func (s *Store) DueAbsences(ctx context.Context, now time.Time, limit int) (due []eventlog.Absence, err error) {
	var idle bool
	err = s.withReader(ctx, func(r reader) error {
		due, err = tables.List(r, scanAbsence, `select `+newsColumns+` from offline_news where due_at <= $1 order by due_at limit $2`, now.UnixMilli(), limit)
		return err
	})
	due, idle = eventlog.WithNews(due)
	if err == nil && idle {
		err = s.tx(ctx, func(w *writer) error {
			_, err := w.Exec(`delete from offline_news where due_at <= $1 and count = 0`, now.UnixMilli())
			return err
		})
	}
	return due, tables.Outcome("read due absences", err)
}

// TellDue implements eventlog.Absences.
func (s *Store) TellDue(ctx context.Context, due []eventlog.Absence, next time.Time) error {
	eventlog.SortAbsences(due)
	c := columnsOf(due)
	return tables.Outcome("tell absent users", s.tx(ctx, func(w *writer) error {
		if _, err := w.Exec(`select from event_consumers where name = $1 for update`, eventlog.AbsentConsumer); err != nil {
			return err
		}
		// A row with another time was told by another instance, or by an earlier run of this transaction.
		told, err := tables.List(w, scanAbsence, `with due as (select n.user_id, n.room_id, n.seq, n.row_id, n.reason, n.count, n.due_at, n.bucket from unnest($1::smallint[], $2::text[], $3::bigint[]) h (bucket, user_id, due_at)
				join offline_news n on n.bucket = h.bucket and n.user_id = h.user_id and n.due_at = h.due_at),
			reset as (update offline_news n set count = 0, due_at = $4 from due where n.bucket = due.bucket and n.user_id = due.user_id)
			select `+newsColumns+` from due`, c.buckets, c.users, c.dues, next.UnixMilli())
		if err != nil {
			return err
		}
		back, absent := eventlog.SplitBack(due, told)
		if b := columnsOf(back); len(back) > 0 {
			if _, err := w.Exec(`delete from offline_news n using unnest($1::smallint[], $2::text[]) h (bucket, user_id)
				where n.bucket = h.bucket and n.user_id = h.user_id`, b.buckets, b.users); err != nil {
				return err
			}
		}
		w.refs.Offline(absent)
		return nil
	}))
}
