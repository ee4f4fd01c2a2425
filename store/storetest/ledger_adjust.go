package storetest

import (
	"errors"

	"hongbao/chat"
	"hongbao/redpacket"
)

func adjustTests() []ledgerTest {
	const most = redpacket.Money(1<<53 - 1)
	return []ledgerTest{
		{"adjust/credit and debit", func(b *ledgerBench) {
			acc := b.fund("stranger", 70)
			equal(b, "account", acc, b.account("stranger"))
			equal(b, "balance", acc.Balance, 70)
			equal(b, "balance", b.fund("stranger", -70).Balance, 0)
		}},
		{"adjust/the same again changes nothing", func(b *ledgerBench) {
			a := b.adjustment(sender, 500)
			for i := range 3 {
				acc, dup, err := b.ledger.Adjust(b.ctx, a)
				b.must(err)
				equal(b, "dup", dup, i > 0)
				equal(b, "account of now", acc, b.account(sender))
				a.ID = b.id("t")
				if i == 0 {
					b.funded += 500
				}
				b.packet(10, 1) // changes the account: the next answer must have the account as it is then
			}
			equal(b, "balance", b.account(sender).Balance, initial+500-30)
		}},
		{"adjust/a key means one content", func(b *ledgerBench) {
			a := b.adjustment(sender, 500)
			_, _, err := b.ledger.Adjust(b.ctx, a)
			b.must(err)
			b.funded += 500
			a.Amount, a.Hash = 0, []byte("other") // the reused key is reported before other mistakes
			b.unchanged(func() { b.notAdjusted(a, chat.ErrKeyReused) })
		}},
		{"adjust/its keys are separate from other keys", func(b *ledgerBench) {
			o := b.order(sender, 100, 1)
			b.send(o)
			a := b.adjustment(sender, 500)
			a.Key = o.Packet.Key
			_, dup, err := b.ledger.Adjust(b.ctx, a)
			b.must(err)
			equal(b, "dup", dup, false)
			b.funded += 500
		}},
		{"adjust/refused changes nothing", func(b *ledgerBench) {
			b.unchanged(func() {
				b.notAdjusted(b.adjustment(sender, -initial-1), redpacket.ErrInsufficientBalance)
				b.notAdjusted(b.adjustment("stranger", -1), redpacket.ErrInsufficientBalance)
				b.notAdjusted(b.adjustment(sender, 0), chat.ErrBadRequest)
				b.notAdjusted(b.adjustment(sender, most), chat.ErrLimitExceeded)
				b.notAdjusted(b.adjustment(sender, most-initial+1), chat.ErrLimitExceeded)
				b.notAdjusted(b.adjustment(sender, 1<<62), chat.ErrLimitExceeded)
				b.notAdjusted(b.adjustment(sender, -1<<63), chat.ErrLimitExceeded)
			})
		}},
		{"adjust/a refused key may be used", func(b *ledgerBench) {
			a := b.adjustment("stranger", -1)
			b.notAdjusted(a, redpacket.ErrInsufficientBalance)
			b.fund("stranger", 1)
			_, dup, err := b.ledger.Adjust(b.ctx, a)
			b.must(err)
			equal(b, "dup", dup, false)
			b.funded--
		}},
		{"adjust/up to the largest amount", func(b *ledgerBench) {
			equal(b, "balance", b.fund(sender, most-initial).Balance, most)
			b.fund(sender, -most)
		}},
	}
}

func (b *ledgerBench) notAdjusted(a redpacket.Adjustment, want error) {
	b.Helper()
	if _, _, err := b.ledger.Adjust(b.ctx, a); !errors.Is(err, want) {
		b.Fatalf("adjust %s by %d: %v, want %v", a.User, a.Amount, err, want)
	}
}
