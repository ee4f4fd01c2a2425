package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"hongbao/chat"
	"hongbao/redpacket"
)

func deletedLedgerTests() []ledgerTest {
	return []ledgerTest{
		{"deleted/rooms with open packets are listed, the others are marked", func(b *ledgerBench) {
			rooms := b.clubs(6)
			packets := map[string]redpacket.Packet{}
			for _, i := range []int{0, 1, 3, 5} { // only these rooms get packets
				packets[rooms[i]] = b.packetIn(rooms[i])
			}
			b.close(packets[rooms[1]], redpacket.Expired)
			for _, room := range rooms[:5] { // the last room is not deleted
				b.delete(room)
			}
			open := []string{rooms[0], rooms[3]}
			for limit := 1; limit <= 6; limit++ {
				equal(b, "rooms", b.deletedRooms(limit), open)
			}
			first, next, err := b.ledger.DeletedRooms(b.ctx, "", 2)
			b.must(err)
			equal(b, "a page once the others are marked", first, open)
			equal(b, "where it goes on", next, rooms[3])
			b.close(packets[rooms[0]], redpacket.Expired)
			equal(b, "when one more has ended", b.deletedRooms(1), open[1:])
			b.close(packets[rooms[3]], redpacket.Expired)
			equal(b, "when all have ended", b.deletedRooms(1), nil)
		}},
		{"deleted/open packets by id, whatever the page", func(b *ledgerBench) {
			room := b.clubs(2)
			var want []redpacket.Ref
			for i := range 9 {
				p := b.packetIn(room[0])
				b.packetIn(room[1])
				if i%3 == 1 {
					b.close(p, redpacket.Cancelled)
					continue
				}
				want = append(want, p.Ref)
			}
			slices.SortFunc(want, func(x, y redpacket.Ref) int {
				if x.ID < y.ID {
					return -1
				}
				return 1
			})
			equal(b, "of a room that is there", b.openInDeleted(room[0], 5), nil)
			b.delete(room[0])
			for limit := 1; limit <= 7; limit++ {
				equal(b, "packets", b.openInDeleted(room[0], limit), want)
			}
			equal(b, "of another room", b.openInDeleted(room[1], 5), nil)
			equal(b, "of no room", b.openInDeleted("none", 5), nil)
		}},
		{"deleted/a packet sent while the room is deleted is listed, or refused", func(b *ledgerBench) {
			var met struct{ sent, refused int }
			for i := range clubMembers {
				b.fund(member(i), 100)
			}
			for round, room := range b.clubs(60) {
				if round >= 12 && met.sent > 0 && met.refused > 0 {
					break
				}
				var mu sync.Mutex
				var sent []string
				orders := []redpacket.UnsealedPacket{b.order(sender, 10, 2), b.order(sender, 10, 2)}
				for i := range clubMembers {
					orders = append(orders, b.order(member(i), 5, 2))
				}
				for i := range orders {
					orders[i].Packet.Room = room
				}
				place := round % (len(orders) + 1) // position of the deletion among the concurrent calls, which start roughly in this order
				together(len(orders)+1, func(i int) {
					switch {
					case i == place:
						b.delete(room)
						return
					case i > place:
						i--
					}
					s, err := b.ledger.Send(b.ctx, orders[i])
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						sent = append(sent, s.Packet.ID)
						met.sent++
					case errors.Is(err, chat.ErrNotFound):
						met.refused++
					default:
						b.Error(err)
					}
				})
				var listed []string
				for _, p := range b.openInDeleted(room, 10) {
					listed = append(listed, p.ID)
				}
				slices.Sort(sent)
				equal(b, "packets", listed, sent)
			}
			if met.sent == 0 || met.refused == 0 {
				b.Errorf("%d were sent, %d refused: no send met a deletion", met.sent, met.refused)
			}
		}},
	}
}

// clubMembers is the number of members, besides the sender, of each room that clubs creates.
const clubMembers = 6

// clubs creates n more rooms, owned by the sender, with rising ids.
func (b *ledgerBench) clubs(n int) (rooms []string) {
	b.Helper()
	var users []string
	for i := range clubMembers {
		users = append(users, member(i))
	}
	for i := range n {
		id := fmt.Sprintf("club-%02d", i)
		_, _, err := b.rooms.CreateRoom(b.ctx, chat.NewRoom{ID: id, Name: id, Kind: chat.Private, Owner: b.user(sender), Members: users,
			Key: id, Hash: []byte(id), At: b.now, MaxRooms: 100})
		b.must(err)
		rooms = append(rooms, id)
	}
	return rooms
}

// packetIn sends a packet of the test's usual sender into a room.
func (b *ledgerBench) packetIn(room string) redpacket.Packet {
	b.Helper()
	o := b.order(sender, 10, 2)
	o.Packet.Room = room
	return b.send(o).Packet
}

func (b *ledgerBench) delete(room string) {
	b.Helper()
	_, err := b.rooms.Change(b.ctx, chat.Change{Kind: chat.DeleteRoom, Room: room, By: b.user(sender), At: b.now})
	if err != nil {
		b.Errorf("delete %s: %v", room, err)
	}
}

// deletedRooms reads all pages of DeletedRooms, with this limit for each page.
func (b *ledgerBench) deletedRooms(limit int) (all []string) {
	b.Helper()
	for next := ""; ; {
		rooms, more, err := b.ledger.DeletedRooms(b.ctx, next, limit)
		b.must(err)
		if all = append(all, rooms...); more == "" {
			return all
		}
		if more <= next {
			b.Fatalf("the page after %q goes on after %q", next, more)
		}
		next = more
	}
}

// openInDeleted reads all pages of OpenInDeleted, with this limit for each page.
func (b *ledgerBench) openInDeleted(room string, limit int) (all []redpacket.Ref) {
	b.Helper()
	for after := ""; ; {
		page, err := b.ledger.OpenInDeleted(b.ctx, room, after, limit)
		b.must(err)
		if all = append(all, page...); len(page) < limit {
			return all
		}
		if page[0].ID <= after {
			b.Fatalf("the page after %q begins with %q", after, page[0].ID)
		}
		after = page[limit-1].ID
	}
}
