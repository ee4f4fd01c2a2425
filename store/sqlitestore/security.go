package sqlitestore

import (
	"context"

	"hongbao/store/security"
	"hongbao/store/tables"
)

// AddCounts implements security.Store.
func (s *Store) AddCounts(ctx context.Context, counts []security.Count) error {
	return tables.Outcome("store counts", s.do(ctx, func(w *writer) error {
		for _, c := range counts {
			_, err := w.Exec(`insert into security_counts (minute, instance, kind, origin, count) values (?, ?, ?, ?, ?) on conflict do nothing`,
				c.Minute.UnixMilli(), c.Instance, c.Kind, c.Origin, c.N)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}
