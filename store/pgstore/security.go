package pgstore

import (
	"context"

	"hongbao/store/security"
	"hongbao/store/tables"
)

// AddCounts implements security.Store.
func (s *Store) AddCounts(ctx context.Context, counts []security.Count) error {
	n := len(counts)
	minutes, numbers := make([]int64, n), make([]int64, n)
	instances, kinds, names := make([]string, n), make([]string, n), make([]string, n)
	for i, c := range counts {
		minutes[i], instances[i], kinds[i], names[i], numbers[i] = c.Minute.UnixMilli(), c.Instance, c.Kind, c.Origin, c.N
	}
	return tables.Outcome("store counts", s.tx(ctx, func(w *writer) error {
		_, err := w.Exec(`insert into security_counts (minute, instance, kind, origin, count)
			select minute, instance, kind, origin, count
			from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[]) i (minute, instance, kind, origin, count) on conflict do nothing`,
			minutes, instances, kinds, names, numbers)
		return err
	}))
}
