package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/store/cursor"
	"hongbao/store/security"
)

// AddAct implements security.Store.
func (s *Store) AddAct(ctx context.Context, a security.Act) error {
	return outcome("store act", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`insert into admin_acts (id, at, instance, actor, client, method, request, request_id, reason) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			on conflict (id) do nothing`, a.ID, a.At.UnixMilli(), a.Instance, a.Actor, a.Client, a.Method, a.Request, a.RequestID, a.Reason)
		return err
	}))
}

// AddCounts implements security.Store.
func (s *Store) AddCounts(ctx context.Context, counts []security.Count) error {
	n := len(counts)
	minutes, numbers := make([]int64, n), make([]int64, n)
	instances, kinds, names := make([]string, n), make([]string, n), make([]string, n)
	for i, c := range counts {
		minutes[i], instances[i], kinds[i], names[i], numbers[i] = c.Minute.UnixMilli(), c.Instance, c.Kind, c.Origin, c.N
	}
	return outcome("store counts", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`insert into security_counts (minute, instance, kind, origin, count)
			select minute, instance, kind, origin, count
			from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[]) i (minute, instance, kind, origin, count) on conflict do nothing`,
			minutes, instances, kinds, names, numbers)
		return err
	}))
}

// DropCounts implements security.Store.
func (s *Store) DropCounts(ctx context.Context, before time.Time) error {
	return outcome("delete counts", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`delete from security_counts where minute < $1`, before.UnixMilli())
		return err
	}))
}

// Acts implements security.Store.
func (s *Store) Acts(ctx context.Context, limit int) (acts []security.Act, err error) {
	err = s.withReader(ctx, func(r reader) error {
		acts, err = rows(r, scanAct, `select id, at, instance, actor, client, method, request, request_id, reason from admin_acts order by at desc, id limit $1`, limit)
		return err
	})
	return acts, outcome("read acts", err)
}

func scanAct(rs pgx.Rows) (a security.Act, err error) {
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
	err = s.withReader(ctx, func(r reader) error {
		acts, err = rows(r, scanAct, `select id, at, instance, actor, client, method, request, request_id, reason from admin_acts where (at, id) > ($1, $2) and at < $3 order by at, id limit $4`,
			at, id, before.UnixMilli(), limit)
		return err
	})
	if err != nil {
		return nil, "", outcome("read acts", err)
	}
	if n := len(acts); n > 0 {
		after = cursor.Make("acts", acts[n-1].At.UnixMilli(), acts[n-1].ID)
	}
	return acts, after, nil
}

// Counts implements security.Store.
func (s *Store) Counts(ctx context.Context, limit int) (counts []security.Count, err error) {
	err = s.withReader(ctx, func(r reader) error {
		counts, err = rows(r, func(rs pgx.Rows) (c security.Count, err error) {
			var minute int64
			err = rs.Scan(&minute, &c.Instance, &c.Kind, &c.Origin, &c.N)
			c.Minute = fromMillis(minute)
			return c, err
		}, `select minute, instance, kind, origin, count from security_counts order by minute desc, instance, kind, origin collate "C" limit $1`, limit)
		return err
	})
	return counts, outcome("read counts", err)
}
