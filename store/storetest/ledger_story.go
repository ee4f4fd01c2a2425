package storetest

import (
	"strings"

	"hongbao/chat"
	"hongbao/redpacket"
)

func storyTests() []ledgerTest {
	return []ledgerTest{
		{"story/of a packet from its sending to its end", func(b *ledgerBench) {
			p := b.packet(100, 3)
			b.wantStory(p, redpacket.Open, "send", "packet")
			b.take(p, 2)
			b.wantStory(p, redpacket.Open, "send, claim, claim", "packet")
			b.must(b.ledger.Quarantine(b.ctx, []redpacket.Claim{b.claim(p, "ghost", 7)}, "no such share"))
			b.close(p, redpacket.Expired)
			s := b.wantStory(p, redpacket.Expired, "send, claim, claim, refund", "packet, packet_done") //nolint:dupword // two claims
			equal(b, "claims in quarantine", len(s.Quarantined), 1)
			equal(b, "quarantine", s.Quarantined, []redpacket.Quarantined{{
				ID: s.Quarantined[0].ID, At: b.claim(p, "ghost", 7).At, Packet: p.ID, User: "ghost", Share: 7, Why: "no such share", State: redpacket.QuarantineEnded,
			}})
			equal(b, "book", s.Book, b.book(p))
			sum := redpacket.Money(0)
			for _, t := range s.Transfers {
				sum += t.Amount
			}
			equal(b, "sum of the transfers", sum, 0)
			if s.ClosedAt.IsZero() || s.Entries[1].Kind != chat.KindPacketDone {
				b.Errorf("closed at %v with the entry %+v", s.ClosedAt, s.Entries[1])
			}
		}},
		{"story/of a packet that is not stored", func(b *ledgerBench) {
			_, err := b.ledger.Story(b.ctx, "none")
			b.is(err, chat.ErrNotFound)
			lost := redpacket.Packet{Ref: redpacket.Ref{ID: "lost"}}
			b.must(b.ledger.Quarantine(b.ctx, []redpacket.Claim{b.claim(lost, member(0), 0)}, "lost"))
			s, err := b.ledger.Story(b.ctx, "lost")
			b.must(err)
			equal(b, "packet", s.Book.Packet.ID, "")
			equal(b, "claims in quarantine", len(s.Quarantined), 1)
		}},
		{"quarantine/list by id with what has become of each claim", func(b *ledgerBench) {
			open, ended := b.packet(100, 3), b.packet(100, 3)
			b.take(open, 1)
			unpaid, paid := b.claim(open, "ghost", 2), b.claim(open, member(0), 0)
			late := b.claim(ended, "ghost", 1)
			lost := redpacket.Claim{Ref: redpacket.Ref{ID: "lost"}, User: "ghost", At: b.now}
			for _, c := range []redpacket.Claim{unpaid, paid, late, lost} {
				b.must(b.ledger.Quarantine(b.ctx, []redpacket.Claim{c}, "row refused"))
			}
			b.close(ended, redpacket.Expired)
			want := []redpacket.QuarantineState{redpacket.QuarantineUnpaid, redpacket.QuarantinePaid, redpacket.QuarantineEnded, redpacket.QuarantineLost}
			all, err := b.ledger.QuarantinedAfter(b.ctx, 0, 10)
			b.must(err)
			equal(b, "claims in quarantine", len(all), len(want))
			after := int64(0)
			for i, state := range want {
				page, err := b.ledger.QuarantinedAfter(b.ctx, after, 1)
				b.must(err)
				equal(b, "page", page, all[i:i+1])
				equal(b, "state", page[0].State, state)
				after = page[0].ID
			}
			page, err := b.ledger.QuarantinedAfter(b.ctx, after, 1)
			b.must(err)
			equal(b, "claims after the last one", len(page), 0)
			b.verdicts(b.settle(unpaid), redpacket.PaidNow)
			all, err = b.ledger.QuarantinedAfter(b.ctx, 0, 1)
			b.must(err)
			equal(b, "state of a claim that was paid later", all[0].State, redpacket.QuarantinePaid)
		}},
	}
}

// wantStory checks a packet's status and the kinds of its transfers and entries, and returns its story. Share i must be
// claimed by member i.
func (b *ledgerBench) wantStory(p redpacket.Packet, status redpacket.Status, transfers, entries string) redpacket.Story {
	b.Helper()
	s, err := b.ledger.Story(b.ctx, p.ID)
	b.must(err)
	equal(b, "status", s.Book.Status, status)
	var kinds []string
	for i, t := range s.Transfers {
		kinds = append(kinds, string(t.Kind))
		if t.Kind == redpacket.TransferClaim && (t.Share != i-1 || t.User != member(i-1)) {
			b.Errorf("transfer %d is %+v", i, t)
		}
	}
	equal(b, "transfers", strings.Join(kinds, ", "), transfers)
	kinds = nil
	for _, e := range s.Entries {
		kinds = append(kinds, string(e.Kind))
	}
	equal(b, "entries", strings.Join(kinds, ", "), entries)
	return s
}
