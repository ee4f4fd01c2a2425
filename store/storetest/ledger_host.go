package storetest

import (
	"errors"
	"fmt"

	"hongbao/chat"
	"hongbao/redpacket"
)

func hostLedgerTests() []ledgerTest {
	return []ledgerTest{
		{"a room without packets takes none, and those in it go on", sendIntoRoomWithoutPackets},
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

func sendIntoRoomWithoutPackets(b *ledgerBench) {
	open := b.packet(100, 2)
	sent := b.order(sender, 50, 1)
	_, err := b.ledger.Send(b.ctx, sent)
	b.must(err)
	allow := func(by chat.User, packets bool) {
		b.Helper()
		done, err := b.rooms.Change(b.ctx, chat.Change{
			Kind: chat.UpdateRoom, Room: theRoom, By: by, To: chat.RoomChange{Packets: &packets}, At: b.now, EntryIDs: []string{b.id("f"), b.id("f")},
		})
		b.must(err)
		if done.Room.NoPackets == packets || len(done.Entries) != 1 || string(done.Entries[0].Body) != fmt.Sprintf(`{"packets":%t}`, packets) {
			b.Errorf("packets %t: made %+v", packets, done)
		}
		if room, err := b.rooms.Room(b.ctx, theRoom); err != nil || room != done.Room {
			b.Errorf("the room is %+v, %v; want %+v", room, err, done.Room)
		}
	}
	allow(chat.System, false)
	before := b.account(sender)
	_, err = b.ledger.Send(b.ctx, b.order(sender, 50, 1))
	var field *chat.FieldError
	if !errors.Is(err, chat.ErrForbidden) || !errors.As(err, &field) || field.Field != "packets" {
		b.Errorf("a packet into a room without packets: %v, want it refused", err)
	}
	if after := b.account(sender); after != before {
		b.Errorf("the sender has %+v after a refused packet, want %+v", after, before)
	}
	if again, err := b.ledger.Send(b.ctx, sent); err != nil || !again.Dup {
		b.Errorf("the packet from before, sent again: %+v, %v", again, err)
	}
	_, _, err = b.rooms.Append(b.ctx, chat.Draft{ID: b.id("t"), Room: theRoom, From: chat.User{ID: sender}, Kind: chat.KindText, Key: "text", Body: []byte(`{"text":"x"}`), Hash: []byte("text"), At: b.now})
	b.must(err)
	b.take(open, 1)
	b.close(open, redpacket.Expired, redpacket.Grant{User: member(0), Share: 0})
	allow(chat.System, true)
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
