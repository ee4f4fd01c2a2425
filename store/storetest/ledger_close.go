package storetest

import (
	"encoding/hex"
	"encoding/json"
	"errors"

	"hongbao/chat"
	"hongbao/redpacket"
)

func closeLedgerTests() []ledgerTest {
	return []ledgerTest{
		{"close/refunds the rest", func(b *ledgerBench) {
			p := b.packet(1000, 5)
			b.take(p, 2)
			shares := b.book(p).Shares
			closed := b.close(p, redpacket.Expired)
			refund := 1000 - shares[0] - shares[1]
			if !closed.Done || closed.Book.Status != redpacket.Expired || closed.Book.Refunded != refund {
				b.Fatalf("closed %+v, want a refund of %d", closed, refund)
			}
			equal(b, "accounts", closed.Accounts, map[string]redpacket.Account{sender: b.account(sender)})
			equal(b, "balance", b.account(sender).Balance, initial-shares[0]-shares[1])
			equal(b, "book", b.book(p), closed.Book)
		}},
		{"close/adds an entry with the seed", func(b *ledgerBench) {
			p := b.packet(1000, 5)
			b.take(p, 2)
			closed := b.close(p, redpacket.Expired)
			all := b.entries()
			equal(b, "last entry", all[len(all)-1], closed.Entry)
			b.wantDoneEntry(closed)
		}},
		{"close/drained has nothing to refund", func(b *ledgerBench) {
			p := b.packet(1000, 5)
			b.take(p, 5)
			closed := b.close(p, redpacket.Expired) // the caller gives Expired as the reason, although the packet is drained
			if closed.Book.Status != redpacket.Drained || closed.Book.Refunded != 0 || len(closed.Accounts) != 0 {
				b.Fatalf("closed %+v, want drained without refund", closed)
			}
		}},
		{"close/with shares left it is not drained", func(b *ledgerBench) {
			p := b.packet(1000, 5)
			b.take(p, 4)
			equal(b, "status", b.close(p, redpacket.Drained).Book.Status, redpacket.Expired)
		}},
		{"close/a cancel with a claim stays a cancel", func(b *ledgerBench) {
			untouched, touched := b.packet(1000, 5), b.packet(1000, 5)
			b.take(touched, 1)
			equal(b, "refund", b.close(untouched, redpacket.Cancelled).Book.Refunded, 1000)
			closed := b.close(touched, redpacket.Cancelled)
			equal(b, "status", closed.Book.Status, redpacket.Cancelled)
			equal(b, "claims", len(closed.Book.Claims), 1)
		}},
		{"close/pays the grants that were not settled", func(b *ledgerBench) {
			p := b.packet(1000, 6)
			b.take(p, 2)
			shares := b.book(p).Shares
			closed := b.close(p, redpacket.Expired,
				redpacket.Grant{User: member(0), Share: 0},  // settled
				redpacket.Grant{User: member(1), Share: 4},  // the user has another share
				redpacket.Grant{User: member(9), Share: 1},  // another user has the share
				redpacket.Grant{User: member(2), Share: 2},  // not settled yet
				redpacket.Grant{User: member(3), Share: 2},  // the share was just paid
				redpacket.Grant{User: member(2), Share: 3},  // the user has just been paid
				redpacket.Grant{User: "stranger", Share: 5}, // not settled yet
				redpacket.Grant{User: member(8), Share: 6},  // no such share
				redpacket.Grant{User: member(8), Share: -1})
			at := b.closing(p, "").At
			equal(b, "inserted", closed.Inserted, []redpacket.Paid{
				{Share: 2, User: b.user(member(2)), Amount: shares[2], At: at},
				{Share: 5, User: chat.User{ID: "stranger"}, Amount: shares[5], At: at},
			})
			equal(b, "refund", closed.Book.Refunded, shares[3]+shares[4])
			equal(b, "accounts", closed.Accounts, map[string]redpacket.Account{
				member(2): b.account(member(2)), "stranger": b.account("stranger"), sender: b.account(sender)})
			equal(b, "book", b.book(p), closed.Book)
			equal(b, "balance", b.account("stranger").Balance, shares[5])
			b.verdict(redpacket.Duplicate, b.claim(p, "stranger", 5))
		}},
		{"close/grants may drain it", func(b *ledgerBench) {
			p := b.packet(1000, 2)
			b.take(p, 1)
			closed := b.close(p, redpacket.Expired, redpacket.Grant{User: member(1), Share: 1})
			equal(b, "status", closed.Book.Status, redpacket.Drained)
		}},
		{"close/the sender's own missing share and the refund are one balance", func(b *ledgerBench) {
			p := b.packet(1000, 2)
			closed := b.close(p, redpacket.Expired, redpacket.Grant{User: sender, Share: 0})
			equal(b, "balance", closed.Accounts[sender].Balance, initial)
		}},
		{"close/once", func(b *ledgerBench) {
			p := b.packet(1000, 3)
			b.take(p, 1)
			first := b.close(p, redpacket.Expired)
			b.unchanged(func() {
				again := b.close(p, redpacket.Cancelled, redpacket.Grant{User: member(2), Share: 2})
				equal(b, "closed again", again, redpacket.Closed{Book: first.Book})
			})
		}},
		{"close/no packet", func(b *ledgerBench) {
			_, err := b.ledger.End(b.ctx, redpacket.Close{Ref: redpacket.Ref{ID: "none"}, Reason: redpacket.Expired, At: b.now})
			if !errors.Is(err, chat.ErrNotFound) {
				b.Fatalf("close: %v", err)
			}
		}},
		{"close/marks the luckiest, the earlier one on a tie", func(b *ledgerBench) {
			one, two, even := b.packet(1000, 1), b.packet(2, 2), b.order(sender, 100, 3)
			even.Packet.Mode, even.Packet.Spread = redpacket.Equal, ""
			three := b.send(even).Packet
			for p, want := range map[*redpacket.Packet]bool{&one: false, &two: true, &three: false} {
				b.take(*p, p.Count)
				equal(b, "luckiest while open", b.state(sender, *p).Luckiest, (*redpacket.Paid)(nil))
				b.close(*p, redpacket.Drained)
				got := b.state(sender, *p).Luckiest
				if (got != nil) != want || got != nil && got.Share != 0 {
					b.Errorf("%s of %d: luckiest %+v", p.Mode, p.Count, got)
				}
			}
		}},
	}
}

// wantDoneEntry checks the entry that announces the end of a packet.
func (b *ledgerBench) wantDoneEntry(closed redpacket.Closed) {
	b.Helper()
	e, book := closed.Entry, closed.Book
	c := b.closing(book.Packet, "")
	if e.Room != theRoom || e.Seq != 2 || e.Kind != chat.KindPacketDone || e.ID != c.EntryID || e.From != book.Packet.From || !e.At.Equal(c.At) {
		b.Errorf("entry %+v", e)
	}
	var body struct {
		Packet string
		Reason redpacket.Status
		State  struct {
			Claimed  int
			Refunded redpacket.Money
		}
		Seed string
	}
	b.must(json.Unmarshal(e.Body, &body))
	if body.Packet != book.Packet.ID || body.Reason != book.Status || body.State.Claimed != len(book.Claims) ||
		body.State.Refunded != book.Refunded || body.Seed != hex.EncodeToString(book.Seed[:]) {
		b.Errorf("body %s does not fit %+v", e.Body, book)
	}
}
