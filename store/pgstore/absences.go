package pgstore

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

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
