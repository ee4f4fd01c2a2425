package storetest

import (
	"fmt"

	"hongbao/redpacket"
	"hongbao/store/eventlog"
)

// visibleLater hides rows that were just committed, as Citus does until its workers have committed. Readers of the stream and of the ledger must wait for
// them, and lose nothing once they are there.
func visibleLater(b *eventsBench) {
	p := b.packet(100, 2)
	for _, hidden := range []struct {
		name, change, back string
		events, transfers  int // of what run does
		run                func()
	}{
		{
			"a packet's entry", `update entries set link = -link, seq = -seq where seq = (select max(seq) from entries)`,
			`update entries set link = -link, seq = -seq where seq < 0`, 2, 1, func() { p = b.packet(100, 2) },
		}, {
			"a claim", `update claims set link = -link, share_no = share_no + 1000 where link = (select max(link) from claims)`,
			`update claims set link = -link, share_no = share_no - 1000 where share_no >= 1000`, 2, 1, func() { b.take(p, 1) },
		}, {
			"the transfer of a refund", `update transfers set packet_id = 'hidden ' || packet_id, id = 'hidden ' || id where kind = 'refund'`,
			`update transfers set packet_id = substr(packet_id, 8), id = substr(id, 8) where kind = 'refund'`, 2, 1, func() { b.close(p, redpacket.Expired) },
		}, {
			"a credit", `update transfers set link = -link, id = 'hidden ' || id where link = (select max(link) from transfers)`,
			`update transfers set link = -link, id = substr(id, 8) where link < 0`, 1, 1, func() {
				_, _, err := b.ledger.Adjust(b.ctx, b.adjustment(sender, 5))
				b.must(err)
			},
		},
	} {
		from := b.newest()
		_, ledger := b.export("", 1000)
		hidden.run()
		b.must(b.u.Exec(hidden.change))
		got, waiting := b.readAll(from, 1000, allKinds())
		moved, ledgerWaiting := b.export(ledger, 1000)
		if len(got) >= hidden.events || len(moved) > 0 {
			b.Errorf("%s is not visible, and %d events and %q are read", hidden.name, len(got), moved)
		}
		b.must(b.u.Exec(hidden.back))
		rest, _ := b.readAll(waiting, 1000, allKinds())
		moved, _ = b.export(ledgerWaiting, 1000)
		equal(b.ledgerBench, fmt.Sprintf("events once %s is visible, with the %d before", hidden.name, len(got)), len(got)+len(rest), hidden.events)
		equal(b.ledgerBench, "transfers once "+hidden.name+" is visible", len(moved), hidden.transfers)
	}
	var none eventlog.Cursor
	if all, _ := b.readAll(none, 1000, allKinds()); len(all) == 0 {
		b.Error("no events")
	}
}
