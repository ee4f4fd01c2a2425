package storetest

import (
	"errors"
	"fmt"
	"math"

	"hongbao/chat"
	"hongbao/redpacket"
)

func detailsTests() []ledgerTest {
	return []ledgerTest{
		{"details/every page is that of the book", func(b *ledgerBench) {
			open, drained, expired, untouched := b.packet(1000, 12), b.packet(999, 3), b.packet(100, 4), b.packet(50, 2)
			for i, share := range []int{9, 0, 4, 2, 11, 1, 5} { // with gaps, and not in order
				b.verdict(redpacket.PaidNow, b.claim(open, member(i), share))
			}
			b.take(drained, 3)
			b.take(expired, 1)
			b.close(drained, redpacket.Drained)
			b.close(expired, redpacket.Expired)
			for _, p := range []redpacket.Packet{open, drained, expired, untouched} {
				book := b.book(p)
				for _, user := range []string{sender, member(0), member(20), "stranger"} {
					for _, after := range []int{0, 1, 2, 3, 4, 9, 10, 11, 12, 13, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt} {
						for limit := 1; limit <= 8; limit++ {
							b.wantDetails(book, redpacket.DetailsQuery{User: user, Packet: p.ID, AfterRank: after, Limit: limit})
						}
					}
				}
			}
		}},
		{"details/pages put together are all claims, once each", func(b *ledgerBench) {
			p := b.packet(1000, 25)
			b.take(p, 20)
			for _, limit := range []int{1, 3, 19, 20, 21} {
				var got []redpacket.Paid
				for q := (redpacket.DetailsQuery{User: sender, Packet: p.ID, Limit: limit}); ; {
					page := b.details(q)
					got = append(got, page.Claims...)
					if !page.More {
						break
					}
					equal(b, "claims of a page before the last", len(page.Claims), limit)
					q.AfterRank = page.Claims[limit-1].Rank()
				}
				equal(b, "claims", got, b.book(p).Claims)
			}
		}},
		{"details/seed and shares only when it is closed", func(b *ledgerBench) {
			p := b.packet(1000, 3)
			b.take(p, 1)
			q := redpacket.DetailsQuery{User: sender, Packet: p.ID, Limit: 1}
			if open := b.details(q); open.Seed != (redpacket.Seed{}) || open.Shares != nil {
				b.Errorf("an open packet shows seed %x and shares %v", open.Seed, open.Shares)
			}
			b.close(p, redpacket.Expired)
			closed, book := b.details(q), b.book(p)
			if redpacket.Commitment(closed.Seed) != p.Commitment {
				b.Errorf("seed %x does not fit the commitment %s", closed.Seed, p.Commitment)
			}
			equal(b, "shares", closed.Shares, book.Shares)
		}},
		{"details/recipients, passphrase and current names", func(b *ledgerBench) {
			o := b.order(sender, 1000, 2)
			o.Packet.To, o.Packet.Passphrase = []string{member(0), member(1)}, "open sesame"
			p := b.send(o).Packet
			b.take(p, 1)
			renamed := chat.User{ID: member(0), Name: "New name"}
			_, _, err := b.rooms.PutUser(b.ctx, chat.Profile{User: renamed}, 0)
			b.must(err)
			page := b.details(redpacket.DetailsQuery{User: member(0), Packet: p.ID, Limit: 5})
			equal(b, "packet", page.Packet, p)
			equal(b, "claimed by", page.Claims[0].User, renamed)
			equal(b, "mine", page.State.Mine.User, renamed)
		}},
		{"details/no packet", func(b *ledgerBench) {
			for _, id := range []string{"none", "", "no\x00thing", "no\xffUTF-8"} {
				if _, err := b.ledger.Details(b.ctx, redpacket.DetailsQuery{User: sender, Packet: id, Limit: 5}); !errors.Is(err, chat.ErrNotFound) {
					b.Errorf("details of %q: %v, want not found", id, err)
				}
			}
		}},
	}
}

func (b *ledgerBench) details(q redpacket.DetailsQuery) redpacket.DetailsPage {
	b.Helper()
	page, err := b.ledger.Details(b.ctx, q)
	b.must(err)
	return page
}

// wantDetails reads a page of details and compares it with the page that follows from the whole book of the packet.
func (b *ledgerBench) wantDetails(book redpacket.Book, q redpacket.DetailsQuery) {
	b.Helper()
	want := redpacket.DetailsPage{Packet: book.Packet, State: book.StateOf(q.User)}
	for _, c := range book.Claims {
		switch {
		case c.Rank() <= q.AfterRank:
		case len(want.Claims) == q.Limit:
			want.More = true
		default:
			want.Claims = append(want.Claims, c)
		}
	}
	if book.Status != redpacket.Open {
		want.Seed, want.Shares = book.Seed, book.Shares
	}
	equal(b, fmt.Sprintf("details %+v", q), b.details(q), want)
}
