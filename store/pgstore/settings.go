package pgstore

import (
	"context"

	"hongbao/store/tables"
)

// DeleteSetting deletes the value that is stored under the name, if there is one.
func (s *Store) DeleteSetting(ctx context.Context, name string) error {
	return tables.Outcome("delete setting", s.tx(ctx, func(w *writer) error {
		_, err := w.Exec(`delete from settings where name = $1`, name)
		return err
	}))
}
