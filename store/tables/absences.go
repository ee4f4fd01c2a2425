package tables

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// UnreadBy implements chat.Store.
func (t members) UnreadBy(ctx context.Context, u chat.Unread) (users []string, err error) {
	among, args := ``, []any{u.Room, u.Seq, u.Sender, u.After, u.Limit}
	if u.Among != nil {
		among, args = ` and user_id `+t.db.In(6), append(args, t.db.List(u.Among))
	}
	users, err = list(ctx, t.db, ScanText, `select user_id from members where room_id = $1 and state = 'in' and read_seq < $2 and not silent
		and user_id <> $3 and user_id > $4`+among+` order by user_id limit $5`, args...)
	return users, Outcome("read members that have not read", err)
}

const newsColumns = `user_id, room_id, seq, row_id, reason, count, due_at`

func scanAbsence(row Row) (a eventlog.Absence, err error) {
	err = row.Scan(&a.User, &a.Room, &a.Seq, &a.Row, &a.Reason, &a.Count, Time(&a.Due))
	return a, err
}

// lockAbsences lets one transaction at a time change the rows of offline_news.
func lockAbsences(w Tx) error {
	_, err := w.Exec(`select 1 from event_consumers where name = $1`+w.Lock(), eventlog.AbsentConsumer)
	return err
}

// TellAbsences implements eventlog.Absences.
func (t consumers) TellAbsences(ctx context.Context, told eventlog.Told) error {
	eventlog.SortAbsences(told.Absences)
	return leaseOutcome("tell absent users", t.db.Write(ctx, func(w Tx) error {
		if err := lockAbsences(w); err != nil {
			return err
		}
		at, err := leasedAt(w, told.Name, told.Owner)
		if err != nil || at != told.Before { // moved since, in most cases by an earlier run of this transaction
			return err
		}
		var b Batch
		var users []string // that had no row
		queueAdvance(&b, told.Consumer)
		for _, a := range told.Absences {
			bucket := chat.UserBucket(a.User)
			b.Exec(`update offline_news set room_id = $3, seq = $4, row_id = $5, reason = $6, count = count + $7
				where bucket = $1 and user_id = $2 and (not $8 or row_id < $5)`, bucket, a.User, a.Room, a.Seq, a.Row, a.Reason, a.Count, told.Again)
			b.Each(func(row Row) error {
				user, err := ScanText(row)
				users = append(users, user)
				return err
			}, `insert into offline_news (bucket, user_id, room_id, seq, row_id, reason, count, due_at) values ($1, $2, $3, $4, $5, $6, 0, $7)
				on conflict do nothing returning user_id`, bucket, a.User, a.Room, a.Seq, a.Row, a.Reason, told.Due.UnixMilli())
		}
		if err := w.Send(&b); err != nil {
			return err
		}
		w.Events().Offline(eventlog.Among(told.Absences, users))
		return nil
	}))
}

// DueAbsences implements eventlog.Absences.
func (t consumers) DueAbsences(ctx context.Context, now time.Time, limit int) (due []eventlog.Absence, err error) {
	due, err = list(ctx, t.db, scanAbsence, `select `+newsColumns+` from offline_news where due_at <= $1 order by due_at limit $2`, now.UnixMilli(), limit)
	due, idle := eventlog.WithNews(due)
	if err == nil && idle {
		err = t.db.Write(ctx, func(w Tx) error {
			_, err := w.Exec(`delete from offline_news where due_at <= $1 and count = 0`, now.UnixMilli())
			return err
		})
	}
	return due, Outcome("read due absences", err)
}

// TellDue implements eventlog.Absences.
func (t consumers) TellDue(ctx context.Context, due []eventlog.Absence, next time.Time) error {
	eventlog.SortAbsences(due)
	return Outcome("tell absent users", t.db.Write(ctx, func(w Tx) error {
		if err := lockAbsences(w); err != nil {
			return err
		}
		var b Batch
		var stored []eventlog.Absence // their counts may have grown since DueAbsences read them
		for _, a := range due {
			// A row with another time was told by another instance, or by an earlier run of this transaction.
			const row = ` where bucket = $1 and user_id = $2 and due_at = $3`
			key := []any{chat.UserBucket(a.User), a.User, a.Due.UnixMilli()}
			b.Each(func(row Row) error {
				found, err := scanAbsence(row)
				stored = append(stored, found)
				return err
			}, `select `+newsColumns+` from offline_news`+row, key...)
			if a.Back {
				b.Exec(`delete from offline_news`+row, key...)
			} else {
				b.Exec(`update offline_news set count = 0, due_at = $4`+row, append(key, next.UnixMilli())...)
			}
		}
		if err := w.Send(&b); err != nil {
			return err
		}
		_, absent := eventlog.SplitBack(due, stored)
		w.Events().Offline(absent)
		return nil
	}))
}
