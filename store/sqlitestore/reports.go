package sqlitestore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

const reportColumns = `id, kind, reporter, about, room_id, seq, packet_id, reason, words, at, state, outcome, note, resolved_by, resolved_at`

func reportInto(r *chat.Report) []any {
	return []any{
		&r.ID, &r.Kind, &r.By, &r.About, &r.Room, &r.Seq, &r.Packet, &r.Reason, &r.Text, storedTime{&r.At}, &r.State, &r.Outcome, &r.Note,
		&r.ResolvedBy, storedTime{&r.ResolvedAt},
	}
}

// ReportByKey implements chat.Store.
func (s *Store) ReportByKey(ctx context.Context, n chat.NewReport) (stored chat.Report, found bool, err error) {
	stored, found, err = reportByKey(reader{ctx, s.read}, n)
	return stored, found && err == nil, outcome("read report", err)
}

func reportByKey(q querier, n chat.NewReport) (stored chat.Report, found bool, err error) {
	var hash []byte
	found, err = q.row(`select `+reportColumns+`, hash from reports where bucket = ? and reporter = ? and key = ?`,
		[]any{chat.UserBucket(n.By), n.By, n.Key}, append(reportInto(&stored), &hash)...)
	if err == nil && found && !bytes.Equal(hash, n.Hash) {
		err = chat.ErrKeyReused
	}
	return stored, found, err
}

// errReportGone means that there is a report about the same, and that it cannot be found. One writer alone never sees that.
var errReportGone = errors.New("the open report about the same is not there")

// AddReport implements chat.Store.
func (s *Store) AddReport(ctx context.Context, n chat.NewReport) (stored chat.Report, dup bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		res, err := w.exec(`insert into reports (bucket, id, reporter, key, hash, kind, about, room_id, seq, packet_id, reason, words, at)
			values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
			chat.UserBucket(n.By), n.ID, n.By, n.Key, n.Hash, n.Kind, n.About, n.Room, n.Seq, n.Packet, n.Reason, n.Text, n.At.UnixMilli())
		if err != nil {
			return err
		}
		added, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if added > 0 {
			w.refs.Report(eventlog.ReportNew, n.Report)
		}
		var found bool
		if stored, found, err = reportByKey(w, n); err != nil || found {
			return err
		}
		found, err = w.row(`select `+reportColumns+` from reports where bucket = ? and reporter = ? and kind = ? and about = ? and room_id = ? and seq = ?
			and state = 'open'`, []any{chat.UserBucket(n.By), n.By, n.Kind, n.About, n.Room, n.Seq}, reportInto(&stored)...)
		if err == nil && !found {
			err = errReportGone
		}
		return err
	})
	return stored, err == nil && stored.ID != n.ID, outcome("add report", err)
}

// ReportByID implements chat.Store.
func (s *Store) ReportByID(ctx context.Context, id string) (stored chat.Report, err error) {
	found, err := reader{ctx, s.read}.row(`select `+reportColumns+` from reports where id = ?`, []any{id}, reportInto(&stored)...)
	if err == nil && !found {
		err = chat.ErrNotFound
	}
	return stored, outcome("read report", err)
}

// Reports implements chat.Store.
func (s *Store) Reports(ctx context.Context, q chat.ReportQuery) ([]chat.Report, error) {
	query, args := `select `+reportColumns+` from reports where id > ?1`, []any{q.After, q.Limit}
	if q.State != "" {
		query, args = query+` and state = ?3`, append(args, q.State)
	}
	all, err := rows(reader{ctx, s.read}, func(rs *sql.Rows) (r chat.Report, err error) {
		err = rs.Scan(reportInto(&r)...)
		return r, err
	}, query+` order by id limit ?2`, args...)
	return all, outcome("list reports", err)
}

// ResolveReport implements chat.Store.
func (s *Store) ResolveReport(ctx context.Context, r chat.Resolution) (stored chat.Report, err error) {
	err = s.do(ctx, func(w *writer) error {
		found, err := w.row(`select `+reportColumns+` from reports where id = ?`, []any{r.Report}, reportInto(&stored)...)
		switch {
		case err != nil:
			return err
		case !found:
			return chat.ErrNotFound
		case stored.State == chat.ReportResolved:
			return stored.Resolved(r)
		}
		stored = stored.With(r)
		w.refs.Report(eventlog.ReportResolved, stored)
		_, err = w.exec(`update reports set state = ?, outcome = ?, note = ?, resolved_by = ?, resolved_at = ? where bucket = ? and id = ?`,
			stored.State, stored.Outcome, stored.Note, stored.ResolvedBy, stored.ResolvedAt.UnixMilli(), chat.UserBucket(stored.By), stored.ID)
		return err
	})
	return stored, outcome("resolve report", err)
}
