package storetest

import (
	"fmt"
	"slices"
	"strings"

	"hongbao/chat"
	"hongbao/redpacket"
)

func exportTests() []ledgerTest {
	return []ledgerTest{
		{"export/every transfer comes once, whatever the size of the pages", func(b *ledgerBench) {
			b.business()
			want := b.transfersOfAll()
			for _, limit := range []int{1, 3, 7, 1000} {
				got, _ := b.export("", limit)
				equal(b, fmt.Sprintf("transfers in pages of %d", limit), got, want)
			}
		}},
		{"export/goes on from a cursor", func(b *ledgerBench) {
			first, next := b.export("", 1000)
			equal(b, "transfers", len(first), 1)
			again, _ := b.export(next, 1000)
			equal(b, "transfers after the last one", len(again), 0)
			b.texts(3)
			p := b.packet(100, 2)
			b.take(p, 1)
			b.texts(3)
			second, next := b.export(next, 2)
			equal(b, "transfers", len(second), 2)
			b.close(p, redpacket.Expired)
			third, _ := b.export(next, 1)
			equal(b, "transfers of the end", len(third), 1)
			all, _ := b.export("", 5)
			together := slices.Concat(first, second, third)
			slices.Sort(together)
			equal(b, "all transfers", all, together)
		}},
		{"export/says who has credited", func(b *ledgerBench) {
			a := b.adjustment(sender, 5)
			a.Actor, a.RequestID, a.Reason = "key/shop", "order-17", "returned goods"
			_, _, err := b.ledger.Adjust(b.ctx, a)
			b.must(err)
			b.funded += 5
			page, err := b.ledger.LedgerAfter(b.ctx, "", 10)
			b.must(err)
			got := page.Transfers[len(page.Transfers)-1]
			want := redpacket.LedgerTransfer{
				Transfer: redpacket.Transfer{ID: a.ID, At: a.At, Amount: 5, Kind: redpacket.TransferCredit, Note: "a note"},
				User:     sender, Actor: "key/shop", RequestID: "order-17", Reason: "returned goods",
			}
			equal(b, "credit", got, want)
		}},
		{"export/a text that is no cursor", func(b *ledgerBench) {
			_, next := b.export("", 10)
			for _, text := range []string{"x", "L", "Lx", next[1:], next + "AAAA", strings.Repeat("A", 100)} {
				_, err := b.ledger.LedgerAfter(b.ctx, text, 10)
				b.is(err, chat.ErrBadRequest)
			}
		}},
	}
}

// business makes transfers of every kind, and texts between them.
func (b *ledgerBench) business() {
	b.Helper()
	b.texts(2)
	for i := range 3 {
		p := b.packet(redpacket.Money(100+i), 10)
		b.settle(b.claim(p, member(0), 0), b.claim(p, member(1), 1), b.claim(p, member(2), 2))
		b.fund(member(i), 7)
		b.fund(member(i), -3)
		b.close(p, redpacket.Expired, redpacket.Grant{User: member(5), Share: 5}, redpacket.Grant{User: member(6), Share: 6})
		b.texts(1)
	}
	drained := b.packet(10, 2)
	b.take(drained, 2)
	b.close(drained, redpacket.Drained)
	b.packet(20, 2)
}

// texts writes texts, which are no transfers.
func (b *ledgerBench) texts(n int) {
	b.Helper()
	for range n {
		key := b.id("text")
		_, _, err := b.rooms.Append(b.ctx, chat.Draft{
			ID: key, Room: theRoom, From: b.user(sender), Kind: chat.KindText, Key: key, Hash: []byte(key), Body: []byte(`{"text":"hello"}`), At: b.now,
		})
		b.must(err)
	}
}

// export reads the ledger to its end. It returns a description of each transfer, sorted, and the last cursor.
func (b *ledgerBench) export(cursor string, limit int) (all []string, next string) {
	b.Helper()
	for {
		page, err := b.ledger.LedgerAfter(b.ctx, cursor, limit)
		b.must(err)
		if len(page.Transfers) > limit {
			b.Fatalf("%d transfers in a page of %d", len(page.Transfers), limit)
		}
		for _, t := range page.Transfers {
			all = append(all, describeTransfer(t.User, t.Transfer))
		}
		if cursor = page.Next; !page.More {
			slices.Sort(all)
			return all, cursor
		}
	}
}

// transfersOfAll returns descriptions of the transfers of all users, sorted.
func (b *ledgerBench) transfersOfAll() (all []string) {
	b.Helper()
	users := []string{sender, outsider}
	for i := range members {
		users = append(users, member(i))
	}
	for _, user := range users {
		list, _, err := b.ledger.Transfers(b.ctx, user, "", 1000)
		b.must(err)
		for _, t := range list {
			all = append(all, describeTransfer(user, t.Transfer))
		}
	}
	slices.Sort(all)
	return all
}

func describeTransfer(user string, t redpacket.Transfer) string {
	return fmt.Sprintf("%s %s %d %s %d %s %s", user, t.ID, t.At.UnixMilli(), t.Kind, t.Amount, t.Packet, t.Note)
}
