package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"hongbao/store/cursor"
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
	acts, err := rows(reader{ctx, s.read}, scanAct, `select id, at, instance, actor, client, method, request, request_id, reason from admin_acts order by at desc, id limit ?`, limit)
	return acts, outcome("read acts", err)
}

func scanAct(rs *sql.Rows) (a security.Act, err error) {
	err = rs.Scan(&a.ID, storedTime{&a.At}, &a.Instance, &a.Actor, &a.Client, &a.Method, &a.Request, &a.RequestID, &a.Reason)
	return a, err
}

// ActsAfter implements security.Store.
func (s *Store) ActsAfter(ctx context.Context, after string, before time.Time, limit int) (acts []security.Act, next string, err error) {
	at, id := int64(0), ""
	if after != "" {
		if err := cursor.Parse("acts", after, &at, &id); err != nil {
			return nil, "", err
		}
	}
	acts, err = rows(reader{ctx, s.read}, scanAct, `select id, at, instance, actor, client, method, request, request_id, reason from admin_acts where (at, id) > (?, ?) and at < ? order by at, id limit ?`,
		at, id, before.UnixMilli(), limit)
	if err != nil {
		return nil, "", outcome("read acts", err)
	}
	if n := len(acts); n > 0 {
		after = cursor.Make("acts", acts[n-1].At.UnixMilli(), acts[n-1].ID)
	}
	return acts, after, nil
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
