package sqlitestore

import (
	"context"

	"hongbao/redpacket"
	"hongbao/store/tables"
)

// Packets implements redpacket.Ledger. A received packet counts at the time of its claim. Totals.Amount of sent packets
// is their total minus their refunds. Totals.Luckiest counts only received packets.
func (s *Store) Packets(ctx context.Context, q redpacket.PacketsQuery) (page redpacket.PacketsPage, err error) {
	totals, list, err := tables.PacketsPage(dialect{}, q)
	if err != nil {
		return redpacket.PacketsPage{}, err
	}
	err = s.view(ctx, func(r reader) error {
		if _, err := r.Row(totals.Text, totals.Args, &page.Totals.Count, &page.Totals.Amount, &page.Totals.Luckiest); err != nil {
			return err
		}
		listed, err := tables.List(r, tables.ScanPacket(r, s.keys), list.Text, list.Args...)
		page.Packets, page.Next = tables.OnePage(q, listed)
		return err
	})
	if err != nil {
		return redpacket.PacketsPage{}, tables.Outcome("list packets", err)
	}
	return page, nil
}
