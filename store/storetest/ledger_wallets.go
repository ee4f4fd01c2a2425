package storetest

import (
	"errors"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

func walletTests() []ledgerTest {
	return []ledgerTest{
		{"wallet/a frozen wallet receives and never spends", func(b *ledgerBench) {
			first := b.order(sender, 100, 2)
			p := b.send(first).Packet
			b.fund(member(0), 50)
			mine := b.send(b.order(member(0), 10, 1)).Packet
			b.freeze(member(0), true)
			frozen := b.freeze(sender, true)
			if frozen.FrozenAt.IsZero() || frozen.Balance != initial-100 {
				b.Errorf("the frozen wallet is %+v", frozen)
			}
			b.now = b.now.Add(time.Hour)
			equal(b, "frozen twice", b.freeze(sender, true), frozen) // FrozenAt is still the time of the first call
			b.unchanged(func() {
				b.refused(b.order(sender, 1, 1), redpacket.ErrWalletFrozen)
				b.refused(b.order(sender, initial, 1), redpacket.ErrWalletFrozen) // the frozen wallet is reported, and not the balance that is too low
				b.notAdjusted(b.adjustment(sender, -1), redpacket.ErrWalletFrozen)
				if !b.send(first).Dup {
					b.Error("a repetition of an earlier send is not recognised")
				}
			})
			b.fund(sender, 7)
			b.verdict(redpacket.PaidNow, b.claim(p, member(0), 0))
			b.close(p, redpacket.Expired)
			b.close(mine, redpacket.Expired, redpacket.Grant{User: sender, Share: 0})
			received := b.book(p).Claims[0].Amount
			equal(b, "balance of the sender", b.account(sender).Balance, initial-received+7+10)
			equal(b, "balance of the member", b.account(member(0)).Balance, 40+received)
			b.freeze(sender, false)
			b.fund(sender, -1)
			b.packet(10, 1)
			b.refused(b.order(member(0), 1, 1), redpacket.ErrWalletFrozen)
		}},
		{"wallet/freezing an empty or unknown wallet", func(b *ledgerBench) {
			w := b.freeze(member(3), true)
			if w.Balance != 0 || w.FrozenAt.IsZero() {
				b.Errorf("an empty wallet is frozen as %+v", w)
			}
			b.fund(member(3), 10)
			b.notAdjusted(b.adjustment(member(3), -1), redpacket.ErrWalletFrozen)
			_, err := b.ledger.FreezeWallet(b.ctx, "nobody", true, b.now)
			b.is(err, chat.ErrNotFound)
			_, err = b.ledger.SetOwnLimits(b.ctx, "nobody", redpacket.OwnLimits{})
			b.is(err, chat.ErrNotFound)
		}},
		{"wallet/freezing while the user sends", func(b *ledgerBench) {
			orders := make([]redpacket.UnsealedPacket, 60)
			for i := range orders {
				orders[i] = b.order(sender, 10, 1)
			}
			var frozen atomic.Bool
			var sent atomic.Int64
			together(len(orders), func(i int) {
				if i == len(orders)/2 {
					b.freeze(sender, true)
					frozen.Store(true)
					return
				}
				before := frozen.Load()
				_, err := b.ledger.Send(b.ctx, orders[i])
				for errors.Is(err, chat.ErrUnavailable) {
					_, err = b.ledger.Send(b.ctx, orders[i])
				}
				switch {
				case err == nil && before:
					b.Error("a frozen wallet has paid")
				case err == nil:
					sent.Add(1)
				case !errors.Is(err, redpacket.ErrWalletFrozen):
					b.Error(err)
				}
			})
			b.refused(b.order(sender, 10, 1), redpacket.ErrWalletFrozen)
			equal(b, "balance", b.account(sender).Balance, initial-10*redpacket.Money(sent.Load()))
		}},
		{"wallet/limits of what a user sends a day", func(b *ledgerBench) {
			limited := func(from string, total redpacket.Money) redpacket.UnsealedPacket {
				o := b.order(from, total, 1)
				o.Limits = redpacket.DayLimits{Sent: redpacket.Limit{On: true, Usual: 100}, Packets: redpacket.Limit{On: true, Usual: 3}}
				return o
			}
			first := limited(sender, 60)
			p := b.send(first).Packet
			b.packet(0+30, 1) // a packet of 30, sent without limits: the later limits count it as well
			b.overDay(limited(sender, 11), "day_sent", 100)
			b.close(p, redpacket.Expired) // the refunded amount still counts as sent
			b.overDay(limited(sender, 11), "day_sent", 100)
			b.send(limited(sender, 10))
			b.overDay(limited(sender, 1), "day_packets", 3)
			if !b.send(first).Dup {
				b.Error("a repetition is not recognised at the limit")
			}
			b.limits(sender, redpacket.OwnLimits{Packets: new(int64(4)), Sent: new(redpacket.NoLimit)})
			b.send(limited(sender, 1000))
			b.overDay(limited(sender, 1), "day_packets", 4)
			b.limits(sender, redpacket.OwnLimits{Packets: new(int64(0))})
			b.overDay(limited(sender, 1), "day_packets", 0)
			off := limited(sender, 200)
			off.Limits.Packets.On, off.Limits.Sent.On = false, false // then the user's own limits do not count either
			b.send(off)

			b.fund(member(0), 1000)
			own := limited(member(0), 500) // without usual limits, only the user's own limits count
			own.Limits.Sent.Usual, own.Limits.Packets.Usual = redpacket.NoLimit, redpacket.NoLimit
			b.send(own)
			b.limits(member(0), redpacket.OwnLimits{Sent: new(int64(600))})
			own = limited(member(0), 101)
			own.Limits.Sent.Usual, own.Limits.Packets.Usual = redpacket.NoLimit, redpacket.NoLimit
			b.overDay(own, "day_sent", 600)
		}},
		{"wallet/a limit counts by day", func(b *ledgerBench) {
			at := time.Date(2026, 11, 25, 15, 59, 59, 0, time.UTC) // a second before midnight in China
			send := func(offset, later time.Duration) error {
				o := b.order(sender, 60, 1)
				o.Packet.CreatedAt, o.Packet.ExpiresAt = at.Add(later), at.Add(48*time.Hour)
				o.Limits = redpacket.DayLimits{Sent: redpacket.Limit{On: true, Usual: 100}, Offset: offset}
				_, err := b.ledger.Send(b.ctx, o)
				return err
			}
			b.must(send(8*time.Hour, 0))
			b.is(send(8*time.Hour, 0), chat.ErrLimitExceeded)
			b.is(send(0, time.Second), chat.ErrLimitExceeded)
			b.must(send(8*time.Hour, time.Second))
			b.is(send(8*time.Hour, 0), chat.ErrLimitExceeded) // the day before is still full
			b.must(send(8*time.Hour, 24*time.Hour+time.Second))
			b.is(send(8*time.Hour, time.Second), chat.ErrLimitExceeded)
		}},
		{"wallet/concurrent sends stay within the limits of a day", func(b *ledgerBench) {
			orders := make([]redpacket.UnsealedPacket, 40)
			for i := range orders {
				orders[i] = b.order(sender, 10, 1)
				orders[i].Limits.Sent = redpacket.Limit{On: true, Usual: 55}
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
		{"wallet/what a user has sent and received on a day", func(b *ledgerBench) {
			p := b.packet(100, 2)
			b.take(p, 1)
			b.fund(member(0), 1000) // a credit is not received in a packet
			b.close(p, redpacket.Expired)
			day := redpacket.DayLimits{}.Day(b.now)
			b.limits(member(0), redpacket.OwnLimits{Received: new(int64(70))})
			used, err := b.ledger.DayUse(b.ctx, member(0), day)
			b.must(err)
			equal(b, "use of the member", used, redpacket.DayUse{Received: b.book(p).Claims[0].Amount, Own: redpacket.OwnLimits{Received: new(int64(70))}})
			used, err = b.ledger.DayUse(b.ctx, sender, day)
			b.must(err)
			equal(b, "use of the sender", used, redpacket.DayUse{Sent: 100, Packets: 1})
			used, err = b.ledger.DayUse(b.ctx, sender, redpacket.Day{From: day.To, To: day.To.Add(24 * time.Hour)})
			b.must(err)
			equal(b, "use on the next day", used, redpacket.DayUse{})
			used, err = b.ledger.DayUse(b.ctx, "nobody", day)
			b.must(err)
			equal(b, "use of an unknown user", used, redpacket.DayUse{})
		}},
		{"wallet/limits that a user has set", func(b *ledgerBench) {
			set := func(c redpacket.SelfLimitsChange) {
				b.Helper()
				b.must(b.ledger.SetSelfLimits(b.ctx, sender, c, b.now))
			}
			b.is(b.ledger.SetSelfLimits(b.ctx, "nobody", redpacket.SelfLimitsChange{Sent: new(int64(1))}, b.now), chat.ErrNotFound)
			set(redpacket.SelfLimitsChange{Sent: new(int64(100)), Received: new(int64(0))})
			b.send(b.order(sender, 60, 1))
			b.overDay(b.order(sender, 41, 1), "day_sent", 100)
			strict := b.order(sender, 31, 1)
			strict.Limits.Sent = redpacket.Limit{On: true, Usual: 90}
			b.overDay(strict, "day_sent", 90)
			set(redpacket.SelfLimitsChange{Sent: new(redpacket.NoLimit), Received: new(int64(7))})
			from := b.now.Add(redpacket.SelfLimitDelay).Truncate(time.Millisecond).UTC()
			used, err := b.ledger.DayUse(b.ctx, sender, redpacket.DayLimits{}.Day(b.now))
			b.must(err)
			equal(b, "use", used, redpacket.DayUse{Sent: 60, Packets: 1, Self: redpacket.SelfLimits{
				Sent: redpacket.SelfLimit{Most: new(int64(100)), From: from}, Received: redpacket.SelfLimit{Most: new(int64(0)), Next: new(int64(7)), From: from},
			}})
			b.overDay(b.order(sender, 41, 1), "day_sent", 100)
			b.now = b.now.Add(redpacket.SelfLimitDelay)
			b.send(b.order(sender, 1000, 1))
		}},
		{"wallet/lists", func(b *ledgerBench) {
			b.fund(member(2), 5)
			own := redpacket.OwnLimits{Sent: new(int64(1)), Received: new(int64(2)), Packets: new(int64(3))}
			b.limits(member(2), own)
			b.freeze(member(4), true)
			got, err := b.ledger.Wallets(b.ctx, []string{sender, "nobody", member(2), member(1)})
			b.must(err)
			equal(b, "wallets", got, []redpacket.Wallet{
				{User: sender, Balance: initial, Version: b.account(sender).Version},
				{User: member(2), Balance: 5, Version: 1, Own: own},
				{User: member(1)},
			})
			var all []string
			for after := ""; ; {
				page, err := b.ledger.WalletsAfter(b.ctx, after, 2)
				b.must(err)
				for _, w := range page {
					all = append(all, w.User)
				}
				if len(page) < 2 {
					break
				}
				after = page[1].User
			}
			equal(b, "wallets in order", all, []string{member(2), member(4), sender})
		}},
	}
}

func (b *ledgerBench) freeze(user string, frozen bool) redpacket.Wallet {
	b.Helper()
	w, err := b.ledger.FreezeWallet(b.ctx, user, frozen, b.now)
	b.must(err)
	return w
}

func (b *ledgerBench) limits(user string, own redpacket.OwnLimits) {
	b.Helper()
	w, err := b.ledger.SetOwnLimits(b.ctx, user, own)
	b.must(err)
	equal(b, "own limits", w.Own, own)
}

// overDay checks that a packet is refused by a limit per day, and changes nothing.
func (b *ledgerBench) overDay(o redpacket.UnsealedPacket, field string, limit int) {
	b.Helper()
	b.unchanged(func() {
		_, err := b.ledger.Send(b.ctx, o)
		var refused *chat.FieldError
		if !errors.Is(err, chat.ErrLimitExceeded) || !errors.As(err, &refused) || refused.Field != field || refused.Limit != limit {
			b.Errorf("got %v, want %s over %d", err, field, limit)
		}
	})
}

// is checks that an error wraps another one.
func (b *ledgerBench) is(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("got %v, want %v", err, want)
	}
}
