package sqlitestore

import (
	"context"
	"database/sql"

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
			err := s.do(ctx, func(w *writer) (err error) {
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
	scan   func(*sql.Rows) (chain.Stored, error)
	update string
}

var chainedTables = []chainedTable{
	{
		entryRows + ` where e.link = 0 and (e.room_id, e.seq) > (?, ?) order by e.room_id, e.seq limit ?`,
		[]any{"", int64(0)}, scanStored[chain.StoredEntry],
		`update entries set link = ?, name_seal = ?, text_seal = ? where room_id = ? and seq = ?`,
	},
	{
		packetRows + ` where link = 0 and id > ? order by id limit ?`,
		[]any{""}, scanStored[chain.StoredPacket],
		`update packets set link = ?, name_seal = ?, text_seal = ? where id = ?`,
	},
	{
		claimRows + ` where link = 0 and (packet_id, share_no) > (?, ?) order by packet_id, share_no limit ?`,
		[]any{"", int64(-1)}, scanStored[chain.StoredClaim],
		`update claims set link = ? where packet_id = ? and share_no = ?`,
	},
	{
		transferRows + ` and link = 0 and (user_id, at, id) > (?, ?, ?) order by user_id, at, id limit ?`,
		[]any{"", int64(0), ""}, scanStored[chain.StoredTransfer],
		`update transfers set link = ? where user_id = ? and at = ? and id = ?`,
	},
}

func scanStored[T any, P interface {
	*T
	chain.Stored
}](rs *sql.Rows) (chain.Stored, error) {
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
	for _, row := range found {
		seals := row.Draw()
		link, err := w.chained(row.Row().Leaf)
		if err != nil {
			return nil, err
		}
		if _, err := w.exec(t.update, append(append([]any{link}, seals...), row.Key()...)...); err != nil {
			return nil, err
		}
	}
	return found, nil
}
