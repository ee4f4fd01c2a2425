package storetest

import (
	"errors"
	"slices"
	"sync"

	"hongbao/chat"
	"hongbao/redpacket"
)

func accountTests() []ledgerTest {
	return []ledgerTest{
		{"account/each change raises the version by one", func(b *ledgerBench) {
			ann, want := member(2), int64(0)
			is := func(after string, acc redpacket.Account) {
				b.Helper()
				equal(b, "version after "+after, acc.Version, want)
				equal(b, "account read after "+after, b.account(ann), acc)
			}
			is("nothing", b.account(ann))
			want++
			is("the first credit", b.fund(ann, 500))
			want++
			is("a debit", b.fund(ann, -100))
			o := b.order(ann, 100, 4)
			o.Packet.Mode, o.Packet.Spread = redpacket.Equal, ""
			want++
			sent := b.send(o)
			is("a packet", sent.Account)
			is("a repeated packet", b.send(o).Account)
			b.notAdjusted(b.adjustment(ann, -1000), redpacket.ErrInsufficientBalance)
			is("a refused debit", b.account(ann))
			want++
			is("a share", b.verdict(redpacket.PaidNow, b.claim(sent.Packet, ann, 0)).Account)
			b.verdict(redpacket.Duplicate, b.claim(sent.Packet, ann, 0))
			is("a repeated share", b.account(ann))
			closed := b.close(sent.Packet, redpacket.Expired, redpacket.Grant{User: member(0), Share: 1})
			want++
			is("a refund", closed.Accounts[ann])
			equal(b, "version of a first share paid with the end", closed.Accounts[member(0)].Version, 1)
		}},
		{"account/one version has one account", func(b *ledgerBench) { b.numberedAccounts() }},
		{"circulation/credits that together exceed the bound", func(b *ledgerBench) {
			b.fund("rich", redpacket.MaxMoney-initial-57)
			adjustments := make([]redpacket.Adjustment, 20)
			for i := range adjustments {
				adjustments[i] = b.adjustment(member(i), 10)
			}
			var mu sync.Mutex
			credited := 0
			together(len(adjustments), func(i int) {
				acc, _, err := b.ledger.Adjust(b.ctx, adjustments[i])
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && acc.Balance == 10 && acc.Version == 1:
					credited++
				case !errors.Is(err, chat.ErrLimitExceeded):
					b.Errorf("%+v, %v", acc, err)
				}
			})
			equal(b, "credits", credited, 5)
			b.funded += 50
			b.leftToCredit(8, "is more than the 7 that may still be credited")
			b.fund("rich", -3)
			b.leftToCredit(11, "is more than the 10 that may still be credited")
			b.fund(member(0), 10)
			b.leftToCredit(1, "is more than the 0 that may still be credited")
		}},
		{"circulation/money in packets counts, and wins stay within the bound", func(b *ledgerBench) {
			b.fund(member(0), redpacket.MaxMoney-initial)
			p := b.packet(initial, 1)
			b.unchanged(func() { b.notAdjusted(b.adjustment(sender, 1), chat.ErrLimitExceeded) })
			got := b.verdict(redpacket.PaidNow, b.claim(p, member(0), 0))
			equal(b, "balance", got.Account.Balance, redpacket.MaxMoney)
			b.unchanged(func() { b.notAdjusted(b.adjustment("stranger", 1), chat.ErrLimitExceeded) })
		}},
	}
}

// leftToCredit checks that a credit of this amount is refused for this reason.
func (b *ledgerBench) leftToCredit(amount redpacket.Money, reason string) {
	b.Helper()
	_, _, err := b.ledger.Adjust(b.ctx, b.adjustment(sender, amount))
	var field *chat.FieldError
	if !errors.Is(err, chat.ErrLimitExceeded) || !errors.As(err, &field) || field.Field != "amount" || field.Reason != reason {
		b.Errorf("credit of %d: %v, want %q", amount, err, reason)
	}
}

// numberedAccounts changes one account concurrently, while several goroutines read it. For each reader the version
// never decreases. No two readers see different accounts with the same version.
func (b *ledgerBench) numberedAccounts() {
	const rounds = 30
	packets := make([]redpacket.Packet, rounds) // sent by another user; the sender takes shares of them
	b.fund(member(0), 10*rounds)
	for i := range packets {
		packets[i] = b.send(b.order(member(0), 10, 2)).Packet
	}
	orders, adjustments := make([]redpacket.UnsealedPacket, rounds), make([]redpacket.Adjustment, rounds)
	for i := range rounds {
		orders[i], adjustments[i] = b.order(sender, 10, 2), b.adjustment(sender, 1)
	}
	seen := numbered{ledgerBench: b, accounts: map[int64]redpacket.Account{}}
	first, ended := b.account(sender), make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() { seen.watch(ended) })
	}
	together(4, func(which int) {
		for i := range rounds {
			switch which {
			case 0:
				sent, err := b.ledger.Send(b.ctx, orders[i])
				seen.note(sent.Account, err)
				closed, err := b.ledger.End(b.ctx, b.closing(orders[i].Packet, redpacket.Expired, redpacket.Grant{User: sender, Share: 1}))
				seen.note(closed.Accounts[sender], err)
			case 1, 2:
				settled := b.ledger.Settle(b.ctx, []redpacket.Claim{b.claim(packets[i], []string{"", sender, member(1)}[which], which-1)})
				if which == 1 {
					seen.note(settled[0].Account, settled[0].Err)
				}
			default:
				acc, _, err := b.ledger.Adjust(b.ctx, adjustments[i])
				seen.note(acc, err)
			}
		}
	})
	close(ended)
	readers.Wait()
	b.funded += rounds
	last := b.account(sender)
	seen.note(last, nil)
	if raised := last.Version - first.Version; raised < 4*rounds {
		b.Errorf("%d changes have raised the version by %d", 4*rounds, raised)
	}
	versions := make([]int64, 0, len(seen.accounts))
	for v := range seen.accounts {
		versions = append(versions, v)
	}
	equal(b, "highest version", slices.Max(versions), last.Version)
}

// numbered records, by version, which accounts of one user any goroutine has seen.
type numbered struct {
	*ledgerBench

	mu       sync.Mutex
	accounts map[int64]redpacket.Account // guarded by mu
}

func (n *numbered) note(acc redpacket.Account, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known, ok := n.accounts[acc.Version]
	switch {
	case err != nil:
		n.Error(err)
	case ok && known != acc:
		n.Errorf("version %d is of\n%+v\nand of\n%+v", acc.Version, known, acc)
	default:
		n.accounts[acc.Version] = acc
	}
}

// watch reads the account again and again until the channel is closed.
func (n *numbered) watch(ended <-chan struct{}) {
	for last := int64(0); ; {
		acc, err := n.ledger.Account(n.ctx, sender)
		n.note(acc, err)
		if acc.Version < last {
			n.Errorf("version %d after %d", acc.Version, last)
		}
		last = acc.Version
		select {
		case <-ended:
			return
		default:
		}
	}
}
