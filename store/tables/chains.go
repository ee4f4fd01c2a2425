package tables

import (
	"context"
	"fmt"

	"hongbao/redpacket"
	"hongbao/store/chain"
)

// chains has the methods about hash chains that each transaction need not call.
type chains struct{ db DB }

// Heads implements redpacket.Ledger.
func (t chains) Heads(ctx context.Context) (heads []redpacket.Head, err error) {
	const newest = ` from links l where l.chain = c.id order by l.id desc limit 1`
	heads, err = list(ctx, t.db, func(row Row) (h redpacket.Head, err error) {
		var hash []byte
		if err = row.Scan(&h.Chain, &h.Link, &hash); err == nil && copy(h.Hash[:], hash) != len(hash) {
			err = fmt.Errorf("link %d has a hash of %d bytes", h.Link, len(hash))
		}
		return h, err
	}, `select id, link, hash from (select c.id, (select l.id`+newest+`) as link, (select l.hash`+newest+`) as hash from chains c) h
		where link is not null order by id`)
	return heads, Outcome("read heads", err)
}

// ChainRows adds all rows of the chained tables that have no link yet to a chain: a version without chains has written them.
// Each step is a transaction of its own. ChainRows returns the number of rows, also after an error: the steps before the error
// are committed.
//
// Only an operator starts it, never the server: it would also accept a row that was added by hand, which has no link either.
func (t chains) ChainRows(ctx context.Context) (int, error) {
	packets := chain.PacketRows(t.db.JSON(`shares`), t.db.JSON(`recipients`))
	n, err := chain.AddRows(chain.Tables(packets), func(of chain.Table, args []any) (added []chain.Stored, err error) {
		err = t.db.Write(ctx, func(w Tx) (err error) {
			added, err = chainRows(w, of, args)
			return err
		})
		return added, err
	})
	return n, Outcome("chain rows", err)
}

// chainRows adds the next rows of a table that have no link to the chain of this transaction, and returns them.
func chainRows(w Tx, t chain.Table, args []any) ([]chain.Stored, error) {
	lock := t.Lock
	if w.Lock() == "" {
		lock = ""
	}
	found, err := List(w, func(row Row) (chain.Stored, error) {
		stored := t.New()
		return stored, row.Scan(stored.Into()...)
	}, t.Read+lock, args...)
	if err != nil {
		return nil, err
	}
	var b Batch
	for _, row := range found {
		seals := row.Draw()
		link, err := w.Chained(row.Row().Leaf)
		if err != nil {
			return nil, err
		}
		b.Exec(t.Update, append(append([]any{link}, seals...), row.Key()...)...)
	}
	return found, w.Send(&b)
}
