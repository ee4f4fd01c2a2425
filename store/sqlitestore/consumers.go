package sqlitestore

import (
	"context"
	"encoding/json"
	"time"

	"hongbao/chat"
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

// UnreadBy implements chat.Store.
func (s *Store) UnreadBy(ctx context.Context, u chat.Unread) ([]string, error) {
	query := `select user_id from members where room_id = ?1 and state = 'in' and read_seq < ?2 and not silent and user_id <> ?3 and user_id > ?4`
	args := []any{u.Room, u.Seq, u.Sender, u.After, u.Limit}
	if u.Among != nil {
		list, err := json.Marshal(u.Among)
		if err != nil {
			return nil, err
		}
		query += ` and user_id in (select value from json_each(?6))`
		args = append(args, string(list))
	}
	users, err := tables.List(s.reader(ctx), tables.ScanText, query+` order by user_id limit ?5`, args...)
	return users, tables.Outcome("read members that have not read", err)
}

const newsColumns = `user_id, room_id, seq, row_id, reason, count, due_at`

func scanAbsence(rs tables.Row) (a eventlog.Absence, err error) {
	err = rs.Scan(&a.User, &a.Room, &a.Seq, &a.Row, &a.Reason, &a.Count, tables.Time(&a.Due))
	return a, err
}

// TellAbsences implements eventlog.Absences.
func (s *Store) TellAbsences(ctx context.Context, t eventlog.Told) error {
	eventlog.SortAbsences(t.Absences)
	return leaseOutcome("tell absent users", s.do(ctx, func(w *writer) error {
		var after, holder string
		if _, err := w.Row(`select after, lease_owner from event_consumers where name = ?`, []any{t.Name}, &after, &holder); err != nil {
			return err
		}
		switch {
		case holder != t.Owner:
			return eventlog.ErrLease
		case after != t.Before:
			return nil
		}
		if _, err := w.Exec(`update event_consumers set after = ?, updated_at = ? where name = ?`, t.After, t.UpdatedAt.UnixMilli(), t.Name); err != nil {
			return err
		}
		var told []eventlog.Absence
		for _, a := range t.Absences {
			inserted, err := w.Exec(`insert into offline_news (bucket, user_id, room_id, seq, row_id, reason, count, due_at) values (?, ?, ?, ?, ?, ?, 0, ?)
				on conflict do nothing`, chat.UserBucket(a.User), a.User, a.Room, a.Seq, a.Row, a.Reason, t.Due.UnixMilli())
			if err != nil {
				return err
			}
			if inserted > 0 {
				told = append(told, a)
				continue
			}
			if _, err := w.Exec(`update offline_news set room_id = ?3, seq = ?4, row_id = ?5, reason = ?6, count = count + ?7
				where bucket = ?1 and user_id = ?2 and (not ?8 or row_id < ?5)`,
				chat.UserBucket(a.User), a.User, a.Room, a.Seq, a.Row, a.Reason, a.Count, t.Again); err != nil {
				return err
			}
		}
		w.refs.Offline(told)
		return nil
	}))
}

// DueAbsences implements eventlog.Absences.
func (s *Store) DueAbsences(ctx context.Context, now time.Time, limit int) ([]eventlog.Absence, error) {
	due, err := tables.List(s.reader(ctx), scanAbsence, `select `+newsColumns+` from offline_news where due_at <= ? order by due_at limit ?`, now.UnixMilli(), limit)
	due, idle := eventlog.WithNews(due)
	if err == nil && idle {
		err = s.do(ctx, func(w *writer) error {
			_, err := w.Exec(`delete from offline_news where due_at <= ? and count = 0`, now.UnixMilli())
			return err
		})
	}
	return due, tables.Outcome("read due absences", err)
}

// TellDue implements eventlog.Absences.
func (s *Store) TellDue(ctx context.Context, due []eventlog.Absence, next time.Time) error {
	return tables.Outcome("tell absent users", s.do(ctx, func(w *writer) error {
		var told []eventlog.Absence
		for _, a := range due {
			query, args := `update offline_news set count = 0, due_at = ?4 where bucket = ?1 and user_id = ?2 and due_at = ?3`,
				[]any{chat.UserBucket(a.User), a.User, a.Due.UnixMilli(), next.UnixMilli()}
			if a.Back {
				query, args = `delete from offline_news where bucket = ?1 and user_id = ?2 and due_at = ?3`, args[:3]
			}
			// If the row has another due time now, another call has told this absence, and it is skipped here. The stored
			// count may have grown since DueAbsences read it, so the stored count is told.
			stored := a
			found, err := w.Row(`select room_id, seq, reason, count from offline_news where bucket = ?1 and user_id = ?2 and due_at = ?3`, args[:3],
				&stored.Room, &stored.Seq, &stored.Reason, &stored.Count)
			if err != nil {
				return err
			}
			if _, err := w.Exec(query, args...); err != nil {
				return err
			}
			if found && !a.Back {
				told = append(told, stored)
			}
		}
		w.refs.Offline(told)
		return nil
	}))
}
