package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/store/chain"
	"hongbao/store/tables"
)

// ChainRows adds all rows of the chained tables that have no link yet to a chain: a version without chains has written them.
// Each step is a transaction of its own. ChainRows returns the number of rows, also after an error: the steps before the error
// are committed.
//
// Only an operator starts it, never the server: it would also accept a row that was added by hand, which has no link either.
func (s *Store) ChainRows(ctx context.Context) (int, error) {
	n, err := chain.AddRows(chain.Tables(chain.PacketRows(auditDialect.Shares, auditDialect.Recipients)), func(t chain.Table, args []any) (added []chain.Stored, err error) {
		err = s.tx(ctx, func(w *writer) (err error) {
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
	}, t.Read+t.Lock, args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	seals, leaves := make([][]any, len(found)), make([]chain.Hash, len(found))
	for i, row := range found {
		seals[i] = row.Draw()
		leaves[i] = row.Row().Leaf
	}
	link, err := w.chained(leaves...)
	if err != nil {
		return nil, err
	}
	var b pgx.Batch
	for i, row := range found {
		b.Queue(t.Update, append(append([]any{link}, seals[i]...), row.Key()...)...)
	}
	return found, w.sendBatch(&b)
}
