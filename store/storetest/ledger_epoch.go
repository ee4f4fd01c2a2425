package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"hongbao/redpacket"
	"hongbao/store/lineage"
)

func epochLedgerTests() []ledgerTest {
	return []ledgerTest{
		{"epoch/a new one forgets the seeds of packets that were not sent", func(b *ledgerBench) {
			before, packet := b.account(sender), b.packet(100, 2)
			next := b.account(sender)
			now, renewed := b.renew()
			if renewed.Seeds < 1 || renewed.Packets != 1 || renewed.Epoch != now.Epoch {
				b.Errorf("renewed %+v in %+v", renewed, now)
			}
			after := b.account(sender)
			if after.NextCommitment == "" || after.NextCommitment == next.NextCommitment || after.NextCommitment == before.NextCommitment || after.Balance != next.Balance {
				b.Errorf("account %+v after the epoch began, %+v before", after, next)
			}
			equal(b, "the commitment of the packet", b.book(packet).Packet.Commitment, before.NextCommitment)
			b.send(b.staleCommitment(sender, after.NextCommitment))
		}},
		{"epoch/of two that begin one at the same time, one does", func(b *ledgerBench) {
			engine := b.engine()
			read, err := engine.State(b.ctx)
			b.must(err)
			var begun atomic.Int64
			epochs := make([]string, 4)
			together(len(epochs), func(i int) {
				now, renewed, err := engine.Renew(b.ctx, read)
				if err != nil {
					b.Error(err)
				}
				if renewed != nil {
					begun.Add(1)
				}
				epochs[i] = now.Epoch
			})
			if begun.Load() != 1 || len(slices.Compact(epochs)) != 1 || epochs[0] == read.Epoch {
				b.Errorf("%d epochs have begun: %q after %q", begun.Load(), epochs, read.Epoch)
			}
			stored, err := b.rooms.Epoch(b.ctx)
			b.must(err)
			equal(b, "the stored epoch", stored, epochs[0])
		}},
		{"epoch/open packets from before it are listed, by id, whatever the page", func(b *ledgerBench) {
			var before []redpacket.Packet
			for i := range 7 {
				p := b.packet(10, 2)
				if i%3 == 1 {
					b.close(p, redpacket.Expired)
					continue
				}
				before = append(before, p)
			}
			equal(b, "without a new epoch", b.openFromBefore(2), nil)
			b.renew()
			b.now = b.now.Add(time.Second)
			later := b.packet(10, 2)
			slices.SortFunc(before, func(x, y redpacket.Packet) int { return cmp.Compare(x.ID, y.ID) })
			for len(before) > 0 {
				var want []redpacket.Ref
				for _, p := range before {
					want = append(want, p.Ref)
				}
				for limit := 1; limit <= 6; limit++ {
					equal(b, fmt.Sprint("pages of ", limit), b.openFromBefore(limit), want)
				}
				b.close(before[0], redpacket.Expired)
				before = before[1:]
			}
			equal(b, "when all are closed", b.openFromBefore(2), nil)
			b.renew()
			equal(b, "in the next epoch", b.openFromBefore(2), []redpacket.Ref{later.Ref})
		}},
		{"epoch/a draw goes on until its window ends", func(b *ledgerBench) {
			b.draw(100, 2, redpacket.RestRefund, farAway)
			over := b.draw(100, 2, redpacket.RestRefund, b.now)
			drawn := b.draw(100, 2, redpacket.RestRefund, farAway)
			b.drawNow(drawn, redpacket.CloseEarly)
			b.renew()
			equal(b, "to be ended", b.openFromBefore(9), []redpacket.Ref{over.Ref, drawn.Ref})
		}},
		{"epoch/the newest commits are found, and others are missing", func(b *ledgerBench) {
			engine := b.engine()
			packet := b.packet(100, 2)
			b.take(packet, 1)
			b.fund(member(1), 5)
			marks := engine.Recent().List()
			n, err := engine.Missing(b.ctx, marks)
			if err != nil || n != 0 {
				b.Errorf("%d of %+v are missing, %v", n, marks, err)
			}
			if len(marks) == 0 {
				return // an engine that cannot meet another server keeps no marks
			}
			if len(marks) < 3 {
				b.Errorf("%d marks, want one for the packet, one for the claim and one for the credit at least: %+v", len(marks), marks)
			}
			for i := range marks {
				marks[i].Link++
			}
			if n, err = engine.Missing(b.ctx, marks); err != nil || n != len(marks) {
				b.Errorf("%d of %d are missing, %v; want all", n, len(marks), err)
			}
		}},
	}
}

// engine returns the ledger as an engine with epochs. It skips the test if the ledger is not itself an engine.
func (b *ledgerBench) engine() lineage.Store {
	b.Helper()
	engine, ok := b.ledger.(lineage.Store)
	if !ok {
		b.Skip("not an engine, but a ledger before one")
	}
	return engine
}

func (b *ledgerBench) renew() (now lineage.State, renewed *lineage.Renewed) {
	b.Helper()
	engine := b.engine()
	read, err := engine.State(b.ctx)
	b.must(err)
	now, renewed, err = engine.Renew(b.ctx, read)
	b.must(err)
	if renewed == nil || now.Epoch == read.Epoch {
		b.Fatalf("no epoch has begun: %+v, %+v", now, renewed)
	}
	engine.ForgetCached()
	return now, renewed
}

func (b *ledgerBench) openFromBefore(limit int) (all []redpacket.Ref) {
	b.Helper()
	for after := ""; ; {
		page, err := b.ledger.OpenFromBefore(b.ctx, after, limit)
		b.must(err)
		all = append(all, page...)
		if len(page) < limit {
			return all
		}
		after = page[limit-1].ID
	}
}
