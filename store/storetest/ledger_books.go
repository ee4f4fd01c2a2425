package storetest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/proof"
)

func bookTests() []ledgerTest {
	return []ledgerTest{
		{"books/an account is opened once", func(b *ledgerBench) {
			first := b.account("stranger")
			if first.Balance != 0 || len(first.NextCommitment) != 64 {
				b.Fatalf("account %+v", first)
			}
			equal(b, "account again", b.account("stranger"), first)
			if b.account("another").NextCommitment == first.NextCommitment {
				b.Fatal("two users have one commitment")
			}
		}},
		{"books/an unknown packet is not found", func(b *ledgerBench) {
			_, e1 := b.ledger.Packet(b.ctx, "none")
			_, e2 := b.ledger.Image(b.ctx, "none")
			_, e3 := b.ledger.Book(b.ctx, "none")
			for _, err := range []error{e1, e2, e3} {
				if !errors.Is(err, chat.ErrNotFound) {
					b.Errorf("got %v", err)
				}
			}
		}},
		{"books/an image has everything the Pool needs", func(b *ledgerBench) {
			p := b.packet(1000, 5)
			b.verdict(redpacket.PaidNow, b.claim(p, member(3), 2))
			b.verdict(redpacket.PaidNow, b.claim(p, member(1), 0))
			want := redpacket.Image{Ref: p.Ref, Count: 5, Deadline: p.ExpiresAt, Status: redpacket.Open,
				Grants: []redpacket.Grant{{User: member(1), Share: 0}, {User: member(3), Share: 2}}}
			equal(b, "image", b.image(p), want)
			b.close(p, redpacket.Cancelled)
			want.Status = redpacket.Cancelled
			equal(b, "image", b.image(p), want)
		}},
		{"books/a packet is read as it was sent", func(b *ledgerBench) {
			o := b.order(sender, 1000, 2)
			o.Packet.To, o.Packet.Passphrase, o.Packet.EarlierMembers = []string{member(0), member(1)}, "open sesame", true
			o.Packet.Hold = redpacket.Hold{Until: time.UnixMilli(1_800_000_000_002).UTC(), For: []redpacket.Grant{{User: member(0)}, {User: member(1)}}}
			o.Packet.Skin, o.Packet.OpensAt = redpacket.Koi, time.UnixMilli(1_800_000_000_001).UTC()
			sent := b.send(o).Packet
			read, err := b.ledger.Packet(b.ctx, sent.ID)
			b.must(err)
			equal(b, "packet", read, sent)
			equal(b, "recipients", read.To, o.Packet.To)
			equal(b, "for earlier members", read.EarlierMembers, true)
			equal(b, "skin", read.Skin, redpacket.Koi)
			equal(b, "opening", read.OpensAt, o.Packet.OpensAt)
			equal(b, "hold in the image", b.image(sent).Hold, read.Hold)
			equal(b, "hold in the book", b.book(sent).Packet.Hold, read.Hold)
			held := proof.Held(b.book(sent).Seed, sent.From.ID, sent.Key, 2, 2)
			equal(b, "held shares", []int{read.Hold.ShareOf(member(0)), read.Hold.ShareOf(member(1)), read.Hold.ShareOf(member(2))}, append(held, -1))
			equal(b, "opening in the image", b.image(sent).OpensAt, o.Packet.OpensAt)
		}},
		{"books/states are the book as each user may see it", func(b *ledgerBench) {
			open, drained, expired := b.packet(1000, 5), b.packet(999, 3), b.packet(100, 4)
			b.take(open, 2)
			b.take(drained, 3)
			b.take(expired, 1)
			b.close(drained, redpacket.Drained)
			b.close(expired, redpacket.Expired)
			for _, user := range []string{sender, member(0), member(2), "stranger"} {
				got, err := b.ledger.States(b.ctx, user, []string{expired.ID, "none", open.ID, drained.ID})
				b.must(err)
				equal(b, "states for "+user, got, []redpacket.State{
					b.book(expired).StateOf(user), b.book(open).StateOf(user), b.book(drained).StateOf(user)})
			}
		}},
		{"books/states of nothing", func(b *ledgerBench) {
			got, err := b.ledger.States(b.ctx, sender, nil)
			if err != nil || len(got) != 0 {
				b.Fatalf("got %v, %v", got, err)
			}
		}},
		{"books/names are current", func(b *ledgerBench) {
			p := b.packet(1000, 1)
			b.take(p, 1)
			renamed := chat.User{ID: member(0), Name: "New name"}
			_, _, err := b.rooms.PutUser(b.ctx, chat.Profile{User: renamed}, 0)
			b.must(err)
			equal(b, "claimed by", b.book(p).Claims[0].User, renamed)
		}},
		{"books/overdue ones come earliest first", func(b *ledgerBench) {
			var want []redpacket.Overdue
			for i := range 5 { // sent later, due earlier
				o := b.order(sender, 10, 1)
				o.Packet.ExpiresAt = b.now.Add(time.Duration(10-i) * time.Minute)
				p := b.send(o).Packet
				want = append([]redpacket.Overdue{{Ref: p.Ref, ExpiresAt: p.ExpiresAt}}, want...)
				if i == 4 { // the earliest of all is closed
					b.close(p, redpacket.Expired)
					want = want[1:]
				}
			}
			equal(b, "none yet", b.overdue(want[0].ExpiresAt, 9), []redpacket.Overdue(nil))
			equal(b, "first", b.overdue(want[0].ExpiresAt.Add(time.Millisecond), 9), want[:1])
			equal(b, "three", b.overdue(want[2].ExpiresAt.Add(time.Millisecond), 9), want[:3])
			equal(b, "two of all", b.overdue(b.now.Add(time.Hour), 2), want[:2])
		}},
		{"books/overdue ones come page by page", func(b *ledgerBench) {
			var want []redpacket.Overdue
			for i := range 7 { // pairs with the same due date
				o := b.order(sender, 10, 1)
				o.Packet.ExpiresAt = b.now.Truncate(time.Minute).Add(time.Duration(10+i/2) * time.Minute)
				p := b.send(o).Packet
				want = append(want, redpacket.Overdue{Ref: p.Ref, ExpiresAt: p.ExpiresAt})
			}
			slices.SortFunc(want, func(a, b redpacket.Overdue) int {
				return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.ID, b.ID))
			})
			var got []redpacket.Overdue
			for after := (redpacket.Overdue{}); ; after = got[len(got)-1] {
				page, err := b.ledger.Overdue(b.ctx, b.now.Add(time.Hour), after, 3)
				b.must(err)
				got = append(got, page...)
				if len(page) == 0 {
					break
				}
			}
			equal(b, "pages of three", got, want)
		}},
		{"books/money is conserved by every step", func(b *ledgerBench) {
			p := b.packet(1000, 4)
			b.balanced()
			for _, c := range []redpacket.Claim{b.claim(p, member(0), 0), b.claim(p, member(0), 0), b.claim(p, member(1), 0), b.claim(p, sender, 3)} {
				b.settle(c)
				b.balanced()
			}
			b.fund(member(0), 70)
			b.balanced()
			b.close(p, redpacket.Expired, redpacket.Grant{User: member(2), Share: 2})
			b.balanced()
			b.fund(sender, -500)
		}},
		{"books/the audit counts", func(b *ledgerBench) {
			p := b.packet(1000, 5)
			b.packet(300, 5)
			b.take(p, 2)
			b.close(p, redpacket.Expired)
			want := redpacket.Audit{Funded: initial, InWallets: initial - 300, InPackets: 300,
				Wallets: 3, Packets: 2, OpenPackets: 1, Claims: 2, Transfers: 6, Rooms: 1, Entries: 3}
			equal(b, "audit", b.audit(), want)
		}},
		{"books/the record of audits is replaced only by a caller that knows it", func(b *ledgerBench) {
			for _, step := range []struct {
				old, next string
				swapped   bool
				stored    string
			}{
				{"", "one", true, "one"}, {"", "two", false, "one"}, {"other", "two", false, "one"},
				{"one", "two", true, "two"}, {"one", "three", false, "two"}, {"two", "two", true, "two"},
			} {
				var old []byte
				if step.old != "" {
					old = []byte(step.old)
				}
				swapped, err := b.ledger.SwapAuditRecord(b.ctx, old, []byte(step.next))
				b.must(err)
				stored, err := b.ledger.AuditRecord(b.ctx)
				b.must(err)
				if swapped != step.swapped || string(stored) != step.stored {
					b.Errorf("%+v: swapped %v, stored %q", step, swapped, stored)
				}
			}
		}},
		{"books/a call with an ended context is unavailable", func(b *ledgerBench) {
			gone, cancel := context.WithCancel(b.ctx)
			cancel()
			p := b.packet(1000, 5)
			b.unchanged(func() {
				_, e1 := b.ledger.Send(gone, b.order(sender, 10, 1))
				e2 := redpacket.UnsettledErr(b.ledger.Settle(gone, []redpacket.Claim{b.claim(p, member(0), 0)}))
				_, e3 := b.ledger.Book(gone, p.ID)
				_, e4 := b.ledger.End(gone, b.closing(p, redpacket.Expired))
				for _, err := range []error{e1, e2, e3, e4} {
					if !errors.Is(err, chat.ErrUnavailable) {
						b.Errorf("got %v, want unavailable", err)
					}
				}
			})
		}},
	}
}

func (b *ledgerBench) image(p redpacket.Packet) redpacket.Image {
	b.Helper()
	i, err := b.ledger.Image(b.ctx, p.ID)
	b.must(err)
	return i
}

func (b *ledgerBench) state(user string, p redpacket.Packet) redpacket.State {
	b.Helper()
	states, err := b.ledger.States(b.ctx, user, []string{p.ID})
	b.must(err)
	if len(states) != 1 {
		b.Fatalf("states %+v", states)
	}
	return states[0]
}

func (b *ledgerBench) overdue(before time.Time, limit int) []redpacket.Overdue {
	b.Helper()
	all, err := b.ledger.Overdue(b.ctx, before, redpacket.Overdue{}, limit)
	b.must(err)
	return all
}
