package sqlitestore

import (
	"context"

	"hongbao/store/tables"
)

// DeleteSetting deletes the value that is stored under the name, if there is one.
func (s *Store) DeleteSetting(ctx context.Context, name string) error {
	return tables.Outcome("delete setting", s.do(ctx, func(w *writer) error {
		w.emptied = true // the write-ahead log is swept, too: the value may be a secret
		_, err := w.Exec(`delete from settings where name = ?`, name)
		return err
	}))
}
