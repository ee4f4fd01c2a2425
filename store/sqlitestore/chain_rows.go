package sqlitestore

import (
	"context"

	"hongbao/store/chain"
	"hongbao/store/tables"
)

// ChainRows adds all rows that have no link yet to a chain: a version without chains has written them. Each step is a
// transaction of its own. It returns the number of rows.
//
// Only an operator starts it, never the server: it would also accept a row that was added by hand, which has no link either.
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

// chainRows adds the next rows of a table to the chain of this transaction.
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
