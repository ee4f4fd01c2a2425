package tables

import (
	"context"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// UnreadBy implements chat.Store.
func (t Tables) UnreadBy(ctx context.Context, u chat.Unread) ([]string, error) {
	among, args := ``, []any{u.Room, u.Seq, u.Sender, u.After, u.Limit, u.Now.UnixMilli()}
	if u.Among != nil {
		among, args = ` and user_id `+t.db.In(7), append(args, t.db.List(u.Among))
	}
	return list(ctx, t.db, "read members that have not read", ScanText, `select user_id from members where room_id = $1 and state = 'in' and `+isThere+` and read_seq < $2 and (not silent or silent_until between 1 and $6)
		and user_id <> $3 and user_id > $4`+among+` order by user_id limit $5`, args...)
}

const newsColumns = `user_id, room_id, seq, row_id, reason, count, due_at`

var scanAbsence = into(func(a *eventlog.Absence) []any {
	return []any{&a.User, &a.Room, &a.Seq, &a.Row, &a.Reason, &a.Count, Time(&a.Due)}
})

// lockAbsences lets one transaction at a time change the rows of offline_news.
func lockAbsences(w Tx) error {
	_, err := w.Exec(`select 1 from event_consumers where name = $1`+w.Lock(), eventlog.AbsentConsumer)
	return err
}

// newsRecord is an absence as a record.
type newsRecord struct {
	Bucket int    `json:"bucket"`
	User   string `json:"user_id"`
	Room   string `json:"room_id"`
	Seq    int64  `json:"seq"`
	Row    int64  `json:"row_id"`
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	Due    int64  `json:"due_at"`
}

func newsRecords(absences []eventlog.Absence) []newsRecord {
	all := make([]newsRecord, len(absences))
	for i, a := range absences {
		all[i] = newsRecord{chat.UserBucket(a.User), a.User, a.Room, a.Seq, a.Row, a.Reason, a.Count, a.Due.UnixMilli()}
	}
	return all
}

// news is the table h of the absences in argument $1, from newsRecords.
func news(d Dialect) string {
	return d.Records(1, "h", `bucket smallint, user_id text, room_id text, seq bigint, row_id bigint, reason text, count int, due_at bigint`)
}

// TellAbsences implements eventlog.Absences.
func (t Tables) TellAbsences(ctx context.Context, told eventlog.AbsenceLook) error {
	eventlog.SortAbsences(told.Absences)
	records := JSON(newsRecords(told.Absences))
	return leaseOutcome("tell absent users", t.db.Write(ctx, func(w Tx) error {
		if err := lockAbsences(w); err != nil {
			return err
		}
		at, no, err := leasedAt(w, told.Name, told.Owner)
		if err != nil || at != told.Before { // moved since, in most cases by an earlier run of this transaction
			return err
		}
		var b Batch
		var users []string // that had no row
		queueAdvance(&b, told.Consumer, no)
		b.Exec(`update offline_news as n set room_id = h.room_id, seq = h.seq, row_id = h.row_id, reason = h.reason, count = n.count + h.count
			from `+news(w)+` where n.bucket = h.bucket and n.user_id = h.user_id and (not $2 or n.row_id < h.row_id)`, records, told.Again)
		b.Each(func(row Row) error {
			user, err := ScanText(row)
			users = append(users, user)
			return err
		}, `insert into offline_news (bucket, user_id, room_id, seq, row_id, reason, count, due_at)
			select bucket, user_id, room_id, seq, row_id, reason, 0, cast($2 as bigint) from `+news(w)+` where true order by user_id
			on conflict do nothing returning user_id`, records, told.Due.UnixMilli())
		if err := w.Send(&b); err != nil {
			return err
		}
		w.Events().Offline(eventlog.Among(told.Absences, users))
		return nil
	}))
}

// DueAbsences implements eventlog.Absences.
func (t Tables) DueAbsences(ctx context.Context, now time.Time, limit int) (due []eventlog.Absence, err error) {
	due, err = list(ctx, t.db, "read due absences", scanAbsence, `select `+newsColumns+` from offline_news where due_at <= $1 order by due_at limit $2`, now.UnixMilli(), limit)
	due, idle := eventlog.WithNews(due)
	if err == nil && idle {
		err = exec(ctx, t.db, "read due absences", `delete from offline_news where due_at <= $1 and count = 0`, now.UnixMilli())
	}
	return due, err
}

// TellDue implements eventlog.Absences.
func (t Tables) TellDue(ctx context.Context, due []eventlog.Absence, next time.Time) error {
	eventlog.SortAbsences(due)
	records, back := newsRecords(due), slices.DeleteFunc(slices.Clone(due), func(a eventlog.Absence) bool { return !a.Back })
	return Outcome("tell absent users", t.db.Write(ctx, func(w Tx) error {
		if err := lockAbsences(w); err != nil {
			return err
		}
		// A row with another time was told by another instance, or by an earlier run of this transaction. The count of a row may have grown
		// since DueAbsences read it.
		var b Batch
		var stored []eventlog.Absence
		b.Each(func(row Row) error {
			a, err := scanAbsence(row)
			stored = append(stored, a)
			return err
		}, `select n.user_id, n.room_id, n.seq, n.row_id, n.reason, n.count, n.due_at from `+news(w)+`
			join offline_news n on n.bucket = h.bucket and n.user_id = h.user_id and n.due_at = h.due_at`, JSON(records))
		if len(back) > 0 {
			b.Exec(`delete from offline_news where (bucket, user_id, due_at) in (select bucket, user_id, due_at from `+news(w)+`)`, JSON(newsRecords(back)))
		}
		b.Exec(`update offline_news as n set count = 0, due_at = $2 from `+news(w)+`
			where n.bucket = h.bucket and n.user_id = h.user_id and n.due_at = h.due_at`, JSON(records), next.UnixMilli())
		if err := w.Send(&b); err != nil {
			return err
		}
		w.Events().Offline(eventlog.StillAbsent(due, stored))
		return nil
	}))
}
