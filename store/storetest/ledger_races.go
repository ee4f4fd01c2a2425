package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"hongbao/chat"
	"hongbao/redpacket"
)

func raceTests() []ledgerTest {
	return []ledgerTest{
		{"race/1000 sends of one wallet never overdraw it", func(b *ledgerBench) {
			b.fund(member(0), 1000)
			orders := make([]redpacket.UnsealedPacket, 1000)
			for i := range orders {
				orders[i] = b.order(member(0), 7, 2)
			}
			var sent atomic.Int64
			together(len(orders), func(i int) {
				_, err := b.ledger.Send(b.ctx, orders[i])
				for errors.Is(err, chat.ErrUnavailable) { // many sends of one user run one after another, so a call may run out of time
					_, err = b.ledger.Send(b.ctx, orders[i])
				}
				switch {
				case err == nil:
					sent.Add(1)
				case !errors.Is(err, redpacket.ErrInsufficientBalance):
					b.Error(err)
				}
			})
			equal(b, "packets sent", sent.Load(), int64(1000/7))
			equal(b, "balance", b.account(member(0)).Balance, redpacket.Money(1000%7))
		}},
		{"race/concurrent sends stay within the limit of open packets", func(b *ledgerBench) {
			orders := make([]redpacket.UnsealedPacket, 40)
			for i := range orders {
				orders[i] = b.order(sender, 10, 1)
				orders[i].MaxOpen = 5
			}
			var sent atomic.Int64
			together(len(orders), func(i int) {
				_, err := b.ledger.Send(b.ctx, orders[i])
				for errors.Is(err, chat.ErrUnavailable) {
					_, err = b.ledger.Send(b.ctx, orders[i])
				}
				switch {
				case err == nil:
					sent.Add(1)
				case !errors.Is(err, chat.ErrLimitExceeded):
					b.Error(err)
				}
			})
			equal(b, "packets sent", sent.Load(), int64(5))
		}},
		{"race/one key sends one packet", func(b *ledgerBench) {
			o := b.order(sender, 100, 2)
			var fresh atomic.Int64
			together(15, func(i int) {
				again := o
				again.Packet.ID, again.EntryID, again.NextSeed = fmt.Sprintf("p-%d", i), fmt.Sprintf("e-%d", i), redpacket.NewSeed()
				sent, err := b.ledger.Send(b.ctx, again)
				if err != nil {
					b.Error(err)
				}
				if !sent.Dup {
					fresh.Add(1)
				}
			})
			equal(b, "packets sent", fresh.Load(), int64(1))
			equal(b, "balance", b.account(sender).Balance, initial-100)
		}},
		{"race/every user for every share", func(b *ledgerBench) {
			p := b.packet(1000, 20)
			var mu sync.Mutex
			paid := map[int]string{}
			together(members, func(i int) {
				var claims []redpacket.Claim
				for k := range 20 {
					claims = append(claims, b.claim(p, member(i), (i+k)%20))
				}
				settled := b.ledger.Settle(b.ctx, claims)
				if err := redpacket.UnsettledErr(settled); err != nil {
					b.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, s := range settled {
					if s.Verdict != redpacket.PaidNow {
						continue
					}
					if other, taken := paid[s.Share]; taken {
						b.Errorf("share %d was paid to %s and %s", s.Share, other, member(i))
					}
					paid[s.Share] = member(i)
				}
			})
			b.wantPaid(b.book(p), paid)
			equal(b, "shares paid", len(paid), 20)
		}},
		{"race/20 closers refund once", func(b *ledgerBench) {
			p := b.packet(1000, 5)
			b.take(p, 2)
			var done atomic.Int64
			together(20, func(i int) {
				closing := b.closing(p, redpacket.Expired)
				closing.EntryID = fmt.Sprintf("done-%d", i)
				closed, err := b.ledger.End(b.ctx, closing)
				if err != nil {
					b.Error(err)
				}
				if closed.Done {
					done.Add(1)
				}
			})
			equal(b, "closed by", done.Load(), int64(1))
			equal(b, "refunds", b.count(sender, redpacket.TransferRefund), 1)
		}},
		{"race/no claim is paid after the refund", func(b *ledgerBench) {
			for range 10 {
				p := b.packet(1000, 30)
				var mu sync.Mutex
				paid := map[int]string{}
				together(members, func(i int) {
					if i%10 == 9 {
						if _, err := b.ledger.End(b.ctx, b.closing(p, redpacket.Expired, redpacket.Grant{User: member(i), Share: i / 2})); err != nil {
							b.Error(err)
						}
						return
					}
					settled := b.ledger.Settle(b.ctx, []redpacket.Claim{b.claim(p, member(i), i/2)})
					if err := redpacket.UnsettledErr(settled); err != nil {
						b.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					if settled[0].Verdict == redpacket.PaidNow {
						paid[i/2] = member(i)
					}
				})
				b.wantPaid(b.book(p), paid)
				b.balanced()
			}
		}},
		{"race/one key adjusts once", func(b *ledgerBench) {
			a := b.adjustment(member(0), 50)
			together(15, func(i int) {
				again := a
				again.ID = fmt.Sprintf("t-%d", i)
				if _, _, err := b.ledger.Adjust(b.ctx, again); err != nil {
					b.Error(err)
				}
			})
			b.funded += 50
			equal(b, "balance", b.account(member(0)).Balance, 50)
		}},
	}
}

// wantPaid checks that each user that was told of a payment has that claim. If the packet is closed, or all its shares are
// claimed, claims and refund must add up to its total.
func (b *ledgerBench) wantPaid(book redpacket.Book, told map[int]string) {
	b.Helper()
	holder := map[int]string{}
	sum := book.Refunded
	for _, c := range book.Claims {
		holder[c.Share] = c.User.ID
		sum += c.Amount
	}
	for share, user := range told {
		if holder[share] != user {
			b.Errorf("share %d was paid to %s, and the book has %q", share, user, holder[share])
		}
	}
	if (book.Status != redpacket.Open || len(holder) == book.Packet.Count) && sum != book.Packet.Total {
		b.Errorf("packet of %d has given %d", book.Packet.Total, sum)
	}
}

// count counts the user's transfers of a kind.
func (b *ledgerBench) count(user string, kind redpacket.TransferKind) (n int) {
	b.Helper()
	all, _, err := b.ledger.Transfers(b.ctx, user, "", 1000)
	b.must(err)
	for _, t := range all {
		if t.Kind == kind {
			n++
		}
	}
	return n
}

// together runs f(0) to f(n-1) concurrently and waits for all.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	all.Wait()
}
