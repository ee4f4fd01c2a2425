package pgstore

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

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
	err = s.withReader(ctx, func(r reader) error {
		stored, found, err = reportByKey(r, n)
		return err
	})
	return stored, found && err == nil, outcome("read report", err)
}

func reportByKey(q querier, n chat.NewReport) (stored chat.Report, found bool, err error) {
	var hash []byte
	found, err = q.row(`select `+reportColumns+`, hash from reports where bucket = $1 and reporter = $2 and key = $3`,
		[]any{chat.UserBucket(n.By), n.By, n.Key}, append(reportInto(&stored), &hash)...)
	if err == nil && found && !bytes.Equal(hash, n.Hash) {
		err = chat.ErrKeyReused
	}
	return stored, found, err
}

// errReportGone means that a report was resolved while another one about the same was added.
var errReportGone = errors.New("the open report about the same was resolved meanwhile")

// AddReport implements chat.Store.
func (s *Store) AddReport(ctx context.Context, n chat.NewReport) (stored chat.Report, dup bool, err error) {
	err = s.tx(ctx, func(w *writer) error {
		added, err := w.exec(`insert into reports (bucket, id, reporter, key, hash, kind, about, room_id, seq, packet_id, reason, words, at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict do nothing`,
			chat.UserBucket(n.By), n.ID, n.By, n.Key, n.Hash, n.Kind, n.About, n.Room, n.Seq, n.Packet, n.Reason, n.Text, n.At.UnixMilli())
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
		found, err = w.row(`select `+reportColumns+` from reports where bucket = $1 and reporter = $2 and kind = $3 and about = $4 and room_id = $5 and seq = $6
			and state = 'open'`, []any{chat.UserBucket(n.By), n.By, n.Kind, n.About, n.Room, n.Seq}, reportInto(&stored)...)
		if err == nil && !found {
			err = errReportGone // the caller repeats it
		}
		return err
	})
	return stored, err == nil && stored.ID != n.ID, outcome("add report", err)
}

// ReportByID implements chat.Store.
func (s *Store) ReportByID(ctx context.Context, id string) (stored chat.Report, err error) {
	err = s.withReader(ctx, func(r reader) error {
		found, err := r.row(`select `+reportColumns+` from reports where id = $1`, []any{id}, reportInto(&stored)...)
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		return err
	})
	return stored, outcome("read report", err)
}

// Reports implements chat.Store.
func (s *Store) Reports(ctx context.Context, q chat.ReportQuery) (all []chat.Report, err error) {
	scan := func(rs pgx.Rows) (r chat.Report, err error) {
		err = rs.Scan(reportInto(&r)...)
		return r, err
	}
	err = s.withReader(ctx, func(r reader) error {
		if q.State == "" {
			all, err = rows(r, scan, `select `+reportColumns+` from reports where id > $1 order by id limit $2`, q.After, q.Limit)
		} else {
			all, err = rows(r, scan, `select `+reportColumns+` from reports where state = $3 and id > $1 order by id limit $2`, q.After, q.Limit, q.State)
		}
		return err
	})
	return all, outcome("list reports", err)
}

// ResolveReport implements chat.Store.
func (s *Store) ResolveReport(ctx context.Context, r chat.Resolution) (stored chat.Report, err error) {
	err = s.tx(ctx, func(w *writer) error {
		found, err := w.row(`select `+reportColumns+` from reports where id = $1 for update`, []any{r.Report}, reportInto(&stored)...)
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
		_, err = w.exec(`update reports set state = $3, outcome = $4, note = $5, resolved_by = $6, resolved_at = $7 where bucket = $1 and id = $2`,
			chat.UserBucket(stored.By), stored.ID, stored.State, stored.Outcome, stored.Note, stored.ResolvedBy, stored.ResolvedAt.UnixMilli())
		return err
	})
	return stored, outcome("resolve report", err)
}
