package tables

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

const reportColumns = `id, kind, reporter, about, room_id, seq, packet_id, reason, words, at, state, outcome, cause, note, resolved_by, resolved_at, appeal_by, appeal, appealed_at`

func reportInto(r *chat.Report) []any {
	return []any{
		&r.ID, &r.Kind, &r.By, &r.About, &r.Room, &r.Seq, &r.Packet, &r.Reason, &r.Text, Time(&r.At), &r.State, &r.Outcome, &r.Cause, &r.Note,
		&r.ResolvedBy, Time(&r.ResolvedAt), &r.Appeal.By, &r.Appeal.Text, timeOrZero(&r.Appeal.At),
	}
}

// ReportByKey implements chat.Store.
func (t Tables) ReportByKey(ctx context.Context, n chat.NewReport) (stored chat.Report, found bool, err error) {
	err = t.db.Read(ctx, func(q Querier) error {
		stored, found, err = reportByKey(q, n)
		return err
	})
	return stored, found && err == nil, Outcome("read report", err)
}

func reportByKey(q Querier, n chat.NewReport) (stored chat.Report, found bool, err error) {
	var hash []byte
	found, err = q.Row(`select `+reportColumns+`, hash from reports where bucket = $1 and reporter = $2 and key = $3`,
		[]any{chat.UserBucket(n.By), n.By, n.Key}, append(reportInto(&stored), &hash)...)
	if err == nil && found && !bytes.Equal(hash, n.Hash) {
		err = chat.ErrKeyReused
	}
	return stored, found, err
}

// errReportGone means that AddReport could add no report because of an open report about the same entry or user. That report
// was resolved before AddReport could read it.
var errReportGone = errors.New("the open report about the same was resolved meanwhile")

// AddReport implements chat.Store.
func (t Tables) AddReport(ctx context.Context, n chat.NewReport) (stored chat.Report, dup bool, err error) {
	err = t.db.Write(ctx, func(w Tx) error {
		added, err := w.Exec(`insert into reports (bucket, id, reporter, key, hash, kind, about, room_id, seq, packet_id, reason, words, at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict do nothing`,
			chat.UserBucket(n.By), n.ID, n.By, n.Key, n.Hash, n.Kind, n.About, n.Room, n.Seq, n.Packet, n.Reason, n.Text, n.At.UnixMilli())
		if err != nil {
			return err
		}
		if added > 0 {
			w.Events().Report(eventlog.ReportNew, n.Report)
		}
		var found bool
		if stored, found, err = reportByKey(w, n); err != nil || found {
			return err
		}
		found, err = w.Row(`select `+reportColumns+` from reports where bucket = $1 and reporter = $2 and kind = $3 and about = $4 and room_id = $5 and seq = $6
			and state = 'open'`, []any{chat.UserBucket(n.By), n.By, n.Kind, n.About, n.Room, n.Seq}, reportInto(&stored)...)
		if err == nil && !found {
			err = errReportGone // the caller gets chat.ErrUnavailable, and the client may repeat the request; SQLite, with one writer, never comes here
		}
		return err
	})
	return stored, err == nil && stored.ID != n.ID, Outcome("add report", err)
}

// ReportByID implements chat.Store.
func (t Tables) ReportByID(ctx context.Context, id string) (chat.Report, error) {
	return read(ctx, t.db, "read report", func(q Querier) (chat.Report, error) {
		return one(q, into(reportInto), `select `+reportColumns+` from reports where id = $1`, id)
	})
}

// Reports implements chat.Store.
func (t Tables) Reports(ctx context.Context, q chat.ReportQuery) ([]chat.Report, error) {
	query, args := `select `+reportColumns+` from reports where id > $1`, []any{q.After, q.Limit}
	if q.State != "" {
		query, args = query+` and state = $3`, append(args, q.State)
	}
	return list(ctx, t.db, "list reports", into(reportInto), query+` order by id limit $2`, args...)
}

// OwnReports implements chat.Store.
func (t Tables) OwnReports(ctx context.Context, q chat.OwnReports) ([]chat.Report, error) {
	query, args := `select `+reportColumns+` from reports where about = $1 and seen_by_about = 1`, []any{q.User, q.Limit}
	if q.Side == chat.Reporter {
		query, args = `select `+reportColumns+` from reports where bucket = $3 and reporter = $1`, append(args, chat.UserBucket(q.User))
	}
	if q.Before != "" {
		args = append(args, q.Before)
		query += ` and id < $` + strconv.Itoa(len(args))
	}
	return list(ctx, t.db, "list reports of a user", into(reportInto), query+` order by id desc limit $2`, args...)
}

// ResolveReport implements chat.Store.
func (t Tables) ResolveReport(ctx context.Context, r chat.Resolution) (chat.Report, error) {
	return t.decide(ctx, "resolve report", r.Report, eventlog.ReportResolved, func(stored chat.Report) (chat.Report, error) { return stored.With(r) })
}

// AppealReport implements chat.Store.
func (t Tables) AppealReport(ctx context.Context, id string, a chat.Appeal) (chat.Report, error) {
	return t.decide(ctx, "appeal report", id, eventlog.ReportAppealed, func(stored chat.Report) (chat.Report, error) { return stored.Appealed(a) })
}

// decide changes what is decided about a report, and adds the event if that changes something.
func (t Tables) decide(ctx context.Context, does, id, event string, change func(chat.Report) (chat.Report, error)) (chat.Report, error) {
	return write(ctx, t.db, does, func(w Tx, _ chat.Report) (stored chat.Report, err error) {
		found, err := w.Row(`select `+reportColumns+` from reports where id = $1`+w.Lock(), []any{id}, reportInto(&stored)...)
		switch {
		case err != nil:
			return stored, err
		case !found:
			return stored, chat.ErrNotFound
		}
		r, err := change(stored)
		if err != nil || r == stored {
			return stored, err
		}
		w.Events().Report(event, r)
		_, err = w.Exec(`update reports set state = $3, outcome = $4, cause = $5, note = $6, resolved_by = $7, resolved_at = $8, appeal_by = $9, appeal = $10, appealed_at = $11,
			seen_by_about = case when $4 = 'acted' then 1 else seen_by_about end where bucket = $1 and id = $2`,
			chat.UserBucket(r.By), r.ID, r.State, r.Outcome, r.Cause, r.Note, r.ResolvedBy, r.ResolvedAt.UnixMilli(), r.Appeal.By, r.Appeal.Text, millisOr(r.Appeal.At, 0))
		return r, err
	})
}
