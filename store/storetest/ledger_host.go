package storetest

import (
	"errors"

	"hongbao/chat"
	"hongbao/redpacket"
)

func hostLedgerTests() []ledgerTest {
	return []ledgerTest{
		{"a frozen room takes no packet, and those in it go on", sendIntoFrozenRoom},
		{"the packets of a suspended user go on, and the refund arrives", packetOfSuspendedUser},
	}
}

func sendIntoFrozenRoom(b *ledgerBench) {
	open := b.packet(100, 2)
	freeze := func(frozen bool) {
		b.Helper()
		_, err := b.rooms.Change(b.ctx, chat.Change{
			Kind: chat.UpdateRoom, Room: theRoom, By: chat.System, To: chat.RoomChange{Frozen: &frozen}, At: b.now, EntryIDs: []string{b.id("f"), b.id("f")},
		})
		b.must(err)
	}
	freeze(true)
	before := b.account(sender)
	_, err := b.ledger.Send(b.ctx, b.order(sender, 50, 1))
	var field *chat.FieldError
	if !errors.Is(err, chat.ErrForbidden) || !errors.As(err, &field) || field.Field != "frozen" {
		b.Errorf("a packet into a frozen room: %v, want it refused", err)
	}
	if after := b.account(sender); after != before {
		b.Errorf("the sender has %+v after a refused packet, want %+v", after, before)
	}
	b.take(open, 1)
	b.close(open, redpacket.Expired, redpacket.Grant{User: member(0), Share: 0})
	freeze(false)
	b.packet(50, 1)
}

func packetOfSuspendedUser(b *ledgerBench) {
	p := b.packet(100, 2)
	before := b.account(sender).Balance
	_, err := b.rooms.Suspend(b.ctx, sender, b.now)
	b.must(err)
	b.take(p, 1)
	closed := b.close(p, redpacket.Expired, redpacket.Grant{User: member(0), Share: 0})
	if got := b.account(sender).Balance; got <= before || !closed.Done {
		b.Errorf("the sender has %d after the end of the packet, and had %d", got, before)
	}
}
