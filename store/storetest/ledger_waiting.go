package storetest

import (
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

func waitingTests() []ledgerTest {
	return []ledgerTest{
		{"packets/those open in a room, whatever the page, with the user's share", func(b *ledgerBench) {
			var want []string
			for i := range 9 {
				o := b.order(sender, 100, 2)
				o.Packet.CreatedAt = b.now.Add(time.Duration(i/3) * time.Second) // with ties
				p := b.send(o).Packet
				if i%3 == 0 {
					b.take(p, 2)
					b.close(p, redpacket.Drained)
				} else {
					b.take(p, 1)
					want = append(want, p.ID)
				}
			}
			slices.Reverse(want)
			for limit := 1; limit <= 7; limit++ {
				q := redpacket.PacketsQuery{Of: theRoom, As: member(0), Direction: redpacket.DirOpen, Limit: limit}
				equal(b, "packets", b.allPackets(q), want)
				for _, p := range b.packets(q).Packets {
					equal(b, "state", p.State, b.state(member(0), p.Packet))
				}
			}
			equal(b, "another room", b.packets(redpacket.PacketsQuery{Of: "elsewhere", As: member(0), Direction: redpacket.DirOpen, Limit: 5}), redpacket.PacketsPage{})
		}},
		{"packets/those that wait, of all rooms of the user", func(b *ledgerBench) {
			rooms := b.clubs(2)
			first, taken, ended, second := b.packetIn(rooms[0]), b.packetIn(rooms[0]), b.packetIn(rooms[1]), b.packetIn(rooms[1])
			b.take(taken, 1)
			b.close(ended, redpacket.Expired)
			b.fund(member(0), 100)
			own := b.order(member(0), 10, 2)
			own.Packet.Room = rooms[0]
			b.send(own)
			b.waits(member(0), second.ID, first.ID)
			b.waits(member(1), own.Packet.ID, second.ID, taken.ID, first.ID)
			b.waits(outsider)
			if _, err := b.rooms.Leave(b.ctx, chat.Leaving{Room: rooms[1], User: b.user(member(1)), At: b.now}); err != nil {
				b.Fatal(err)
			}
			b.waits(member(1), own.Packet.ID, taken.ID, first.ID)
			b.delete(rooms[0])
			b.waits(member(0), second.ID)
		}},
		{"packets/the newest that wait, once the page is full", func(b *ledgerBench) {
			var want []string
			for range 5 {
				want = append(want, b.packet(10, 2).ID)
			}
			slices.Reverse(want)
			page := b.packets(redpacket.PacketsQuery{Of: member(0), Direction: redpacket.DirWaiting, Limit: 3})
			equal(b, "packets", idsOf(page), want[:3])
			equal(b, "next", page.Next, "")
		}},
	}
}

// waits fails the test if other packets wait for the user.
func (b *ledgerBench) waits(user string, want ...string) {
	b.Helper()
	page := b.packets(redpacket.PacketsQuery{Of: user, Direction: redpacket.DirWaiting, Limit: 100})
	equal(b, "waiting packets of "+user, idsOf(page), want)
	for _, p := range page.Packets {
		equal(b, "state", p.State, b.state(user, p.Packet))
	}
}

func idsOf(page redpacket.PacketsPage) (ids []string) {
	for _, p := range page.Packets {
		ids = append(ids, p.Packet.ID)
	}
	return ids
}
