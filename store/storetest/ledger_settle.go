package storetest

import (
	"time"

	"hongbao/redpacket"
)

func settleTests() []ledgerTest {
	return []ledgerTest{
		{"settle/pays each share as it was cut", func(b *ledgerBench) {
			p := b.packet(1000, 7)
			shares := b.book(p).Shares
			for i, amount := range shares {
				c := b.claim(p, member(i), i)
				got := b.verdict(redpacket.PaidNow, c)
				want := redpacket.Settlement{Verdict: redpacket.PaidNow, Share: i, Amount: amount, At: c.At,
					Account: redpacket.Account{Balance: amount, NextCommitment: got.Account.NextCommitment, Version: 1}}
				equal(b, "settlement", got, want)
				equal(b, "account", b.account(member(i)), got.Account)
				if len(got.Account.NextCommitment) != 64 {
					b.Errorf("commitment %q", got.Account.NextCommitment)
				}
			}
			book := b.book(p)
			if len(book.Claims) != len(shares) || book.Status != redpacket.Open {
				b.Fatalf("book after all shares: %+v", book)
			}
			for i, paid := range book.Claims {
				equal(b, "paid", paid, redpacket.Paid{Share: i, User: b.user(member(i)), Amount: shares[i], At: b.claim(p, "", i).At})
			}
		}},
		{"settle/everything twice pays once", func(b *ledgerBench) {
			p := b.packet(1000, 5)
			var claims []redpacket.Claim
			for i := range 5 {
				claims = append(claims, b.claim(p, member(i), i))
			}
			first := b.settle(claims...)
			for i := range claims {
				claims[i].At = claims[i].At.Add(time.Hour) // the time of the first claim stays
			}
			b.unchanged(func() {
				for i, again := range b.settle(claims...) {
					want := first[i]
					want.Verdict, want.Account = redpacket.Duplicate, redpacket.Account{}
					equal(b, "settled again", again, want)
				}
			})
		}},
		{"settle/twice within one call pays once", func(b *ledgerBench) {
			p := b.packet(1000, 5)
			c := b.claim(p, member(0), 3)
			got := b.settle(c, c, b.claim(p, member(1), 3), b.claim(p, member(0), 4))
			b.verdicts(got, redpacket.PaidNow, redpacket.Duplicate, redpacket.Conflict, redpacket.Duplicate)
			equal(b, "share that the user has", got[3].Share, 3)
		}},
		{"settle/the sender may have a share too", func(b *ledgerBench) {
			p := b.packet(1000, 1)
			got := b.verdict(redpacket.PaidNow, b.claim(p, sender, 0))
			equal(b, "balance", got.Account.Balance, initial)
		}},
		{"settle/pays an unknown user", func(b *ledgerBench) {
			p := b.packet(1000, 1)
			got := b.verdict(redpacket.PaidNow, b.claim(p, "stranger", 0))
			equal(b, "account", b.account("stranger"), got.Account)
			equal(b, "balance", got.Account.Balance, 1000)
		}},
		{"settle/a bad claim does not affect the others", func(b *ledgerBench) {
			p := b.packet(1000, 3)
			nowhere := b.claim(p, member(5), 0)
			nowhere.ID = "no such packet"
			got := b.settle(
				nowhere, b.claim(p, member(0), 0), b.claim(p, member(1), -1), b.claim(p, member(1), 3),
				b.claim(p, member(2), 0), b.claim(p, member(1), 1))
			b.verdicts(got, redpacket.Unpayable, redpacket.PaidNow, redpacket.Unpayable, redpacket.Unpayable,
				redpacket.Conflict, redpacket.PaidNow)
		}},
		{"settle/nothing is nothing", func(b *ledgerBench) {
			b.unchanged(func() { b.settle() })
		}},
		{"settle/after the end", func(b *ledgerBench) {
			p := b.packet(1000, 4)
			b.take(p, 2)
			b.close(p, redpacket.Expired)
			b.unchanged(func() {
				late := b.verdict(redpacket.TooLate, b.claim(p, member(3), 3))
				equal(b, "status", late.Status, redpacket.Expired)
				b.verdict(redpacket.Conflict, b.claim(p, member(3), 0))
				b.verdict(redpacket.Unpayable, b.claim(p, member(3), 4))
				mine := b.verdict(redpacket.Duplicate, b.claim(p, member(1), 1))
				equal(b, "amount", mine.Amount, b.book(p).Shares[1])
				other := b.verdict(redpacket.Duplicate, b.claim(p, member(1), 3))
				equal(b, "share that the user has", other.Share, 1)
			})
		}},
		{"settle/a claim that comes twice and cannot be paid", func(b *ledgerBench) {
			p := b.packet(1000, 3)
			b.take(p, 1)
			taken := b.claim(p, member(5), 0)
			b.verdicts(b.settle(taken, taken), redpacket.Conflict, redpacket.Conflict)
			b.close(p, redpacket.Expired)
			late := b.claim(p, member(6), 2)
			b.verdicts(b.settle(late, late), redpacket.TooLate, redpacket.TooLate)
		}},
		{"settle/quarantine is remembered once", func(b *ledgerBench) {
			p := b.packet(1000, 4)
			claims := []redpacket.Claim{b.claim(p, member(0), 9), b.claim(p, member(1), 9)}
			for range 2 {
				b.must(b.ledger.Quarantine(b.ctx, claims, "no such share"))
				equal(b, "quarantined", b.audit().Quarantined, 2)
			}
		}},
	}
}

func (b *ledgerBench) verdicts(got []redpacket.Settlement, want ...redpacket.Verdict) {
	b.Helper()
	for i, s := range got {
		if s.Verdict != want[i] {
			b.Errorf("claim %d: verdict %d, want %d", i, s.Verdict, want[i])
		}
	}
}
