package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/tables"
)

// Packets implements redpacket.Ledger, in one round trip. A received packet counts at the time of its claim.
// Totals.Amount of sent packets is their total less their refunds. Totals.Luckiest counts the received packets in which
// the user's claim is the luckiest; it is 0 for sent packets.
func (s *Store) Packets(ctx context.Context, q redpacket.PacketsQuery) (page redpacket.PacketsPage, err error) {
	totals, list, err := tables.PacketsPage(dialect{}, q)
	if err != nil {
		return redpacket.PacketsPage{}, err
	}
	err = s.withReader(ctx, func(r reader) error {
		return r.sendBatch(oneSnapshot(func(b *pgx.Batch) {
			b.Queue(totals.Text, totals.Args...).QueryRow(func(row pgx.Row) error {
				return row.Scan(&page.Totals.Count, &page.Totals.Amount, &page.Totals.Luckiest)
			})
			b.Queue(list.Text, list.Args...).Query(func(rs pgx.Rows) error {
				listed, err := collect(rs, tables.ScanPacket(r, r.keys))
				page.Packets, page.Next = tables.OnePage(q, listed)
				return err
			})
		}))
	})
	if err != nil {
		return redpacket.PacketsPage{}, tables.Outcome("list packets", err)
	}
	return page, nil
}
