package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/store/chain"
)

// ChainRows adds the rows without a link to a chain: those that a version without chains has written. Each step is a
// transaction of its own, with at most chainStep rows of one table. It returns the number of rows.
//
// An operator starts it, not the server: a row that somebody has added by hand has no link either.
func (s *Store) ChainRows(ctx context.Context) (n int, err error) {
	for _, t := range chainedTables {
		for after := t.first; after != nil; {
			var added []chain.Stored
			err := s.tx(ctx, func(w *writer) (err error) {
				added, err = w.chainRows(t, after)
				return err
			})
			if err != nil {
				return n, outcome("chain rows", err)
			}
			n += len(added)
			after = nil
			if len(added) == chainStep {
				after = added[chainStep-1].Key()
			}
		}
	}
	return n, nil
}

const chainStep = 1000

// chainedTable says how ChainRows reads and writes a table. The arguments of read are the key of the last row before, and
// chainStep. The arguments of update are the link, the seals if the table has any, and the key.
type chainedTable struct {
	read   string
	first  []any // a key before all others
	scan   func(pgx.Rows) (chain.Stored, error)
	update string
}

var chainedTables = []chainedTable{
	{
		entryRows + ` where e.link = 0 and (e.room_id, e.seq) > ($1, $2) order by e.room_id, e.seq limit $3 for update of e`,
		[]any{"", int64(0)}, scanStored[chain.StoredEntry],
		`update entries set link = $1, name_seal = $2, text_seal = $3 where room_id = $4 and seq = $5`,
	},
	{
		packetRows + ` where link = 0 and id > $1 order by id limit $2 for update`,
		[]any{""}, scanStored[chain.StoredPacket],
		`update packets set link = $1, name_seal = $2, text_seal = $3 where id = $4`,
	},
	{
		claimRows + ` where link = 0 and (packet_id, share_no) > ($1, $2) order by packet_id, share_no limit $3 for update`,
		[]any{"", int64(-1)}, scanStored[chain.StoredClaim],
		`update claims set link = $1 where packet_id = $2 and share_no = $3`,
	},
	{
		transferRows + ` and link = 0 and (user_id, at, id) > ($1, $2, $3) order by user_id, at, id limit $4 for update`,
		[]any{"", int64(0), ""}, scanStored[chain.StoredTransfer],
		`update transfers set link = $1 where user_id = $2 and at = $3 and id = $4`,
	},
}

func scanStored[T any, P interface {
	*T
	chain.Stored
}](rs pgx.Rows) (chain.Stored, error) {
	stored := P(new(T))
	err := rs.Scan(stored.Into()...)
	return stored, err
}

// chainRows adds the next rows of a table to the chain of this transaction.
func (w *writer) chainRows(t chainedTable, after []any) ([]chain.Stored, error) {
	found, err := rows(w, t.scan, t.read, append(after[:len(after):len(after)], chainStep)...)
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
		b.Queue(t.update, append(append([]any{link}, seals[i]...), row.Key()...)...)
	}
	return found, w.sendBatch(&b)
}
