package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

func listTests() []ledgerTest {
	return []ledgerTest{
		{"sample/counts what waits", func(b *ledgerBench) {
			sample := func(now time.Time, want redpacket.LedgerSample) {
				b.Helper()
				got, err := b.ledger.Sample(b.ctx, now)
				b.must(err)
				equal(b, "sample", got, want)
			}
			sample(b.now, redpacket.LedgerSample{})
			first, second := b.packet(100, 2), b.packet(50, 1)
			late := b.order(sender, 30, 1)
			late.Packet.ExpiresAt = b.now.Add(2 * time.Hour)
			b.send(late)
			paid := b.verdict(redpacket.PaidNow, b.claim(first, member(0), 1)).Amount
			sample(first.ExpiresAt, redpacket.LedgerSample{Open: 3, Escrow: 180 - paid})
			sample(first.ExpiresAt.Add(90*time.Second), redpacket.LedgerSample{Open: 3, Escrow: 180 - paid, Overdue: 2, Late: 90 * time.Second})
			b.close(second, redpacket.Expired)
			b.must(b.ledger.Quarantine(b.ctx, []redpacket.Claim{b.claim(second, member(1), 0)}, "too late"))
			sample(first.ExpiresAt.Add(time.Second), redpacket.LedgerSample{Open: 2, Escrow: 130 - paid, Overdue: 1, Late: time.Second, Quarantined: 1})
		}},
		{"packets/sent, newest first, whatever the page", func(b *ledgerBench) {
			var want []string
			for i := range 9 {
				o := b.order(sender, 100, 3)
				o.Packet.CreatedAt = b.now.Add(time.Duration(i/4) * time.Second) // with ties
				want = append(want, b.send(o).Packet.ID)
			}
			slices.Reverse(want)
			for limit := 1; limit <= 10; limit++ {
				q := redpacket.PacketsQuery{Of: sender, Direction: redpacket.DirSent, Limit: limit}
				equal(b, "packets", b.allPackets(q), want)
			}
		}},
		{"packets/a page has its size in bytes, too", func(b *ledgerBench) {
			var to, want, got []string
			for i := range 200 {
				to = append(to, fmt.Sprintf("%064d", i))
			}
			for range 100 {
				o := b.order(sender, 100, 1)
				o.Packet.To = to
				want = append(want, b.send(o).Packet.ID)
			}
			slices.Reverse(want)
			for q := (redpacket.PacketsQuery{Of: sender, Direction: redpacket.DirSent, Limit: 100}); ; {
				page := b.packets(q)
				text, err := json.Marshal(page.Packets) // roughly the size on the wire
				b.must(err)
				if len(text) > 1<<20 || len(page.Packets) == 0 {
					b.Fatalf("a page of %d packets takes %d bytes", len(page.Packets), len(text))
				}
				for _, p := range page.Packets {
					got = append(got, p.Packet.ID)
				}
				if q.Next = page.Next; q.Next == "" {
					break
				}
			}
			equal(b, "packets", got, want)
		}},
		{"packets/received, by the time of the claim, whatever the page", func(b *ledgerBench) {
			var want []string
			for i := range 7 {
				p := b.packet(100, 3)
				c := b.claim(p, member(0), 1)
				c.At = b.now.Add(time.Duration(i/3) * time.Second) // with ties
				b.verdict(redpacket.PaidNow, c)
				b.verdict(redpacket.PaidNow, b.claim(p, member(1), 0)) // of another user
				want = append(want, p.ID)
			}
			slices.Reverse(want)
			for limit := 1; limit <= 8; limit++ {
				q := redpacket.PacketsQuery{Of: member(0), Direction: redpacket.DirReceived, Limit: limit}
				equal(b, "packets", b.allPackets(q), want)
			}
		}},
		{"packets/of a room, whatever the page, also when they have ended", func(b *ledgerBench) {
			var want []redpacket.PacketState
			for i := range 7 {
				o := b.order(sender, 100, 2)
				o.Packet.CreatedAt = b.now.Add(time.Duration(i/3) * time.Second) // with ties
				p := b.send(o).Packet
				if i%2 == 0 {
					b.take(p, 2)
					b.close(p, redpacket.Drained)
				}
				want = append(want, redpacket.PacketState{Packet: p, State: b.book(p).StateOf("nobody")})
			}
			slices.Reverse(want)
			for limit := 1; limit <= 8; limit++ {
				var got []redpacket.PacketState
				for q := (redpacket.PacketsQuery{Of: want[0].Packet.Room, Direction: redpacket.DirRoom, Limit: limit}); ; {
					page := b.packets(q)
					got = append(got, page.Packets...)
					if q.Next = page.Next; q.Next == "" {
						break
					}
				}
				equal(b, "packets", got, want)
			}
			equal(b, "another room", b.packets(redpacket.PacketsQuery{Of: "elsewhere", Direction: redpacket.DirRoom, Limit: 5}), redpacket.PacketsPage{})
		}},
		{"packets/each with its state", func(b *ledgerBench) {
			p := b.packet(1000, 2)
			b.take(p, 2)
			b.close(p, redpacket.Drained)
			for user, direction := range map[string]redpacket.Direction{sender: redpacket.DirSent, member(0): redpacket.DirReceived} {
				page := b.packets(redpacket.PacketsQuery{Of: user, Direction: direction, Limit: 5})
				equal(b, "packets", page.Packets, []redpacket.PacketState{{Packet: p, State: b.book(p).StateOf(user)}})
				equal(b, "next", page.Next, "")
			}
		}},
		{"packets/totals of sent packets", func(b *ledgerBench) {
			expired, open := b.packet(1000, 4), b.packet(500, 5)
			b.take(expired, 1)
			b.take(open, 1)
			refunded := b.close(expired, redpacket.Expired).Book.Refunded
			page := b.packets(redpacket.PacketsQuery{Of: sender, Direction: redpacket.DirSent, Limit: 1})
			equal(b, "totals", page.Totals, redpacket.Totals{Count: 2, Amount: 1500 - refunded})
		}},
		{"packets/totals of received packets", func(b *ledgerBench) {
			var want redpacket.Totals
			for range 6 {
				p := b.packet(1000, 2)
				b.take(p, 2)
				b.close(p, redpacket.Drained)
				book := b.book(p)
				want.Count++
				want.Amount += book.Claims[0].Amount
				if redpacket.Luckiest(p, book.Claims).User.ID == member(0) {
					want.Luckiest++
				}
			}
			page := b.packets(redpacket.PacketsQuery{Of: member(0), Direction: redpacket.DirReceived, Limit: 2})
			equal(b, "totals", page.Totals, want)
		}},
		{"packets/the best day, by the clock of the user", func(b *ledgerBench) {
			p := b.send(b.order(sender, 100, 1)).Packet // all amounts are 100
			late := b.claim(p, member(0), 0)
			late.At = time.Date(2023, 11, 14, 23, 30, 0, 0, time.UTC)
			b.verdict(redpacket.PaidNow, late)
			for _, hour := range []int{1, 20} {
				c := b.claim(b.packet(60, 1), member(0), 0)
				c.At = time.Date(2023, 11, 15, hour, 0, 0, 0, time.UTC)
				b.verdict(redpacket.PaidNow, c)
			}
			best := func(ahead time.Duration, from time.Time) *redpacket.BestDay {
				b.Helper()
				return b.packets(redpacket.PacketsQuery{Of: member(0), Direction: redpacket.DirReceived, From: from, Limit: 1, Days: true, Ahead: ahead}).Totals.Best
			}
			equal(b, "in London", *best(0, time.Time{}), redpacket.BestDay{At: time.Date(2023, 11, 15, 0, 0, 0, 0, time.UTC), Amount: 120})
			equal(b, "in Berlin", *best(time.Hour, time.Time{}), redpacket.BestDay{At: time.Date(2023, 11, 14, 23, 0, 0, 0, time.UTC), Amount: 220})
			equal(b, "in Caracas", *best(-4*time.Hour, time.Time{}), redpacket.BestDay{At: time.Date(2023, 11, 14, 4, 0, 0, 0, time.UTC), Amount: 160})
			equal(b, "in a time without packets", best(0, b.now.AddDate(1, 0, 0)), nil)
		}},
		{"packets/of a period", func(b *ledgerBench) {
			var all []string
			for i := range 4 {
				o := b.order(sender, 100, 1)
				o.Packet.CreatedAt = b.now.Add(time.Duration(i) * time.Hour)
				p := b.send(o).Packet
				all = append(all, p.ID)
				c := b.claim(p, member(0), 0)
				c.At = o.Packet.CreatedAt
				b.verdict(redpacket.PaidNow, c)
			}
			for user, direction := range map[string]redpacket.Direction{sender: redpacket.DirSent, member(0): redpacket.DirReceived} {
				q := redpacket.PacketsQuery{Of: user, Direction: direction, Limit: 1, From: b.now.Add(time.Hour), To: b.now.Add(3 * time.Hour)}
				equal(b, "packets", b.allPackets(q), []string{all[2], all[1]})
				equal(b, "totals", b.packets(q).Totals, redpacket.Totals{Count: 2, Amount: 200})
			}
		}},
		{"packets/of an unknown user", func(b *ledgerBench) {
			page := b.packets(redpacket.PacketsQuery{Of: "stranger", Direction: redpacket.DirReceived, Limit: 5})
			equal(b, "page", page, redpacket.PacketsPage{})
		}},
		{"transfers/signed, newest first, whatever the page", func(b *ledgerBench) {
			p := b.packet(1000, 2)
			b.verdict(redpacket.PaidNow, b.claim(p, sender, 0))
			b.now = b.now.Add(time.Hour)
			refunded := b.close(p, redpacket.Expired).Book.Refunded
			b.now = b.now.Add(time.Hour)
			b.fund(sender, -40)
			b.now = b.now.Add(time.Hour)
			b.fund(sender, 30)
			all := b.allTransfers(sender, 100)
			var amounts []redpacket.Money
			var kinds []redpacket.TransferKind
			for _, t := range all {
				amounts, kinds = append(amounts, t.Amount), append(kinds, t.Kind)
				if inPacket := t.Kind != redpacket.TransferCredit && t.Kind != redpacket.TransferDebit; inPacket != (t.Packet == p.ID) || inPacket != (t.Note == "") {
					b.Errorf("transfer %+v", t)
				}
			}
			equal(b, "newest", kinds[:3], []redpacket.TransferKind{redpacket.TransferCredit, redpacket.TransferDebit, redpacket.TransferRefund})
			equal(b, "amounts", amounts[:3], []redpacket.Money{30, -40, refunded})
			slices.Sort(amounts[3:]) // of the same instant
			equal(b, "amounts", amounts[3:], []redpacket.Money{-1000, 1000 - refunded, initial})
			for limit := 1; limit <= 6; limit++ {
				equal(b, "transfers", b.allTransfers(sender, limit), all)
			}
		}},
		{"lists/a cursor of another list is refused", func(b *ledgerBench) {
			for range 2 {
				b.packet(100, 1)
			}
			sent := b.packets(redpacket.PacketsQuery{Of: sender, Direction: redpacket.DirSent, Limit: 1}).Next
			_, transfers, err := b.ledger.Transfers(b.ctx, sender, "", 1)
			b.must(err)
			for _, bad := range []string{"x", "!", "bnVsbA", transfers} {
				_, err := b.ledger.Packets(b.ctx, redpacket.PacketsQuery{Of: sender, Direction: redpacket.DirSent, Limit: 1, Next: bad})
				if !errors.Is(err, chat.ErrBadRequest) {
					b.Errorf("packets after %q: %v", bad, err)
				}
			}
			for _, bad := range []string{"x", "!", "bnVsbA", sent} {
				if _, _, err := b.ledger.Transfers(b.ctx, sender, bad, 1); !errors.Is(err, chat.ErrBadRequest) {
					b.Errorf("transfers after %q: %v", bad, err)
				}
			}
		}},
	}
}

func (b *ledgerBench) packets(q redpacket.PacketsQuery) redpacket.PacketsPage {
	b.Helper()
	page, err := b.ledger.Packets(b.ctx, q)
	b.must(err)
	return page
}

// maxPages is a larger number of pages than any list of these tests has.
const maxPages = 100

// allPackets reads all pages of a list of packets.
func (b *ledgerBench) allPackets(q redpacket.PacketsQuery) (ids []string) {
	b.Helper()
	for range maxPages {
		page := b.packets(q)
		for _, p := range page.Packets {
			ids = append(ids, p.Packet.ID)
		}
		if q.Next = page.Next; q.Next == "" {
			return ids
		}
		if len(page.Packets) != q.Limit {
			b.Fatalf("a page limited to %d packets is not the last one, and has %d", q.Limit, len(page.Packets))
		}
	}
	b.Fatal("the pages never end")
	return nil
}

// allTransfers reads all pages of the user's transfers.
func (b *ledgerBench) allTransfers(user string, limit int) (all []redpacket.LedgerTransfer) {
	b.Helper()
	next := ""
	for range maxPages {
		page, more, err := b.ledger.Transfers(b.ctx, user, next, limit)
		b.must(err)
		if all = append(all, page...); more == "" {
			return all
		}
		if next = more; len(page) != limit {
			b.Fatalf("a page limited to %d transfers is not the last one, and has %d", limit, len(page))
		}
	}
	b.Fatal("the pages never end")
	return nil
}
