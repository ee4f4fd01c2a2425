package sqlitestore

import (
	"context"

	"hongbao/store/chain"
	"hongbao/store/tables"
)

// ChainRows adds to a chain all entries, packets, claims, credits and debits that have no link, because a version without
// chains wrote them. Each step is a job of its own. ChainRows returns the number of rows, also after an error.
//
// Only an operator may start ChainRows, never the server: a row that was inserted by hand has no link either, and would be
// added, too.
func (s *Store) ChainRows(ctx context.Context) (int, error) {
	n, err := chain.AddRows(chain.Tables(chain.PacketRows(auditDialect.Shares, auditDialect.Recipients)), func(t chain.Table, args []any) (added []chain.Stored, err error) {
		err = s.do(ctx, func(w *writer) (err error) {
			added, err = w.chainRows(t, args)
			return err
		})
		return added, err
	})
	return n, tables.Outcome("chain rows", err)
}

// chainRows adds the next rows of a table that have no link to the chain of this transaction, and returns them.
func (w *writer) chainRows(t chain.Table, args []any) ([]chain.Stored, error) {
	found, err := tables.List(w, func(rs tables.Row) (chain.Stored, error) {
		stored := t.New()
		return stored, rs.Scan(stored.Into()...)
	}, t.Read, args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	for _, row := range found {
		seals := row.Draw()
		link, err := w.chained(row.Row().Leaf)
		if err != nil {
			return nil, err
		}
		if _, err := w.Exec(t.Update, append(append([]any{link}, seals...), row.Key()...)...); err != nil {
			return nil, err
		}
	}
	return found, nil
}
