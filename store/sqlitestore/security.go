package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"hongbao/store/security"
)

// AddAct implements security.Store.
func (s *Store) AddAct(ctx context.Context, a security.Act) error {
	return outcome("store act", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`insert into admin_acts (id, at, instance, actor, client, method, request, request_id, reason) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
			on conflict (id) do nothing`, a.ID, a.At.UnixMilli(), a.Instance, a.Actor, a.Client, a.Method, a.Request, a.RequestID, a.Reason)
		return err
	}))
}

// AddCounts implements security.Store.
func (s *Store) AddCounts(ctx context.Context, counts []security.Count) error {
	return outcome("store counts", s.do(ctx, func(w *writer) error {
		for _, c := range counts {
			_, err := w.exec(`insert into security_counts (minute, instance, kind, origin, count) values (?, ?, ?, ?, ?) on conflict do nothing`,
				c.Minute.UnixMilli(), c.Instance, c.Kind, c.Origin, c.N)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// DropCounts implements security.Store.
func (s *Store) DropCounts(ctx context.Context, before time.Time) error {
	return outcome("delete counts", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`delete from security_counts where minute < ?`, before.UnixMilli())
		return err
	}))
}

// Acts implements security.Store.
func (s *Store) Acts(ctx context.Context, limit int) ([]security.Act, error) {
	acts, err := rows(reader{ctx, s.read}, func(rs *sql.Rows) (a security.Act, err error) {
		var at int64
		err = rs.Scan(&a.ID, &at, &a.Instance, &a.Actor, &a.Client, &a.Method, &a.Request, &a.RequestID, &a.Reason)
		a.At = fromMillis(at)
		return a, err
	}, `select id, at, instance, actor, client, method, request, request_id, reason from admin_acts order by at desc, id limit ?`, limit)
	return acts, outcome("read acts", err)
}

// Counts implements security.Store.
func (s *Store) Counts(ctx context.Context, limit int) ([]security.Count, error) {
	counts, err := rows(reader{ctx, s.read}, func(rs *sql.Rows) (c security.Count, err error) {
		var minute int64
		err = rs.Scan(&minute, &c.Instance, &c.Kind, &c.Origin, &c.N)
		c.Minute = fromMillis(minute)
		return c, err
	}, `select minute, instance, kind, origin, count from security_counts order by minute desc, instance, kind, origin limit ?`, limit)
	return counts, outcome("read counts", err)
}
