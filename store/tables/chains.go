package tables

import (
	"context"
	"fmt"

	"hongbao/redpacket"
)

// Heads implements redpacket.Ledger.
func (t Tables) Heads(ctx context.Context) ([]redpacket.Head, error) {
	const newest = ` from links l where l.chain = c.id order by l.id desc limit 1`
	return list(ctx, t.db, "read heads", func(row Row) (h redpacket.Head, err error) {
		var hash []byte
		if err = row.Scan(&h.Chain, &h.Link, &hash); err == nil && copy(h.Hash[:], hash) != len(hash) {
			err = fmt.Errorf("link %d has a hash of %d bytes", h.Link, len(hash))
		}
		return h, err
	}, `select id, link, hash from (select c.id, (select l.id`+newest+`) as link, (select l.hash`+newest+`) as hash from chains c) h
		where link is not null order by id`)
}
