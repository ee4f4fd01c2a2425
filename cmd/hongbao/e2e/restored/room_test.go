package restored

import (
	"fmt"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// room is a room with clients on several servers, all of which keep journals.
type room struct {
	t       *testing.T
	id      string
	clients []*e2e.Client // the first one owns the room
	own     *journal      // of our own SDK
	said    int
}

// openRoom connects two clients to each server, one for each encoding, and lets them join a room.
func openRoom(t *testing.T, servers ...*e2e.Server) *room {
	t.Helper()
	r := &room{t: t}
	for i, s := range servers {
		for _, protobuf := range []bool{false, true} {
			r.clients = append(r.clients, e2e.Connect(t, s, s.Guest(fmt.Sprint("user ", i, protobuf)), protobuf))
		}
	}
	r.id = e2e.Call[wire.CreateRoomReply](r.owner(), "create_room", wire.CreateRoomRequest{Key: "room", Name: "restored", Kind: "public"}).Room.ID
	r.own = follow(t, servers[0], servers[0].Guest("own"), r.id)
	for _, c := range r.clients[1:] {
		e2e.Call[wire.JoinReply](c, "join", wire.JoinRequest{Room: r.id})
	}
	return r
}

func (r *room) owner() *e2e.Client { return r.clients[0] }

// say sends texts, each by another client.
func (r *room) say(n int) {
	r.t.Helper()
	for range n {
		r.said++
		c := r.clients[r.said%len(r.clients)]
		e2e.Call[wire.SendReply](c, "send", wire.SendRequest{Room: r.id, Key: fmt.Sprint("text-", r.said), Text: fmt.Sprint("text ", r.said)})
	}
}

// send sends a packet of the owner.
func (r *room) send(key string, count int, ttl int64) wire.Packet {
	r.t.Helper()
	return e2e.Call[wire.SendPacketReply](r.owner(), "send_packet", wire.SendPacketRequest{
		Room: r.id, Key: key, Total: 1000, Count: &count, TTLS: &ttl,
	}).Packet
}

func (r *room) grab(c *e2e.Client, p wire.Packet) wire.GrabReply {
	r.t.Helper()
	g := e2e.Call[wire.GrabReply](c, "grab", wire.GrabRequest{Packet: p.ID})
	if g.Outcome != "won" && g.Outcome != "already" { // "already": the win was stored late, so the client has grabbed twice
		r.t.Fatalf("%s: grab was answered %+v, want won", c.User.Name, g)
	}
	return g
}

// last waits until all clients of the SDK have the room's last entry, and returns its seq.
func (r *room) last() int64 {
	r.t.Helper()
	history := e2e.History(r.owner(), r.id, 0, e2e.All)
	for _, c := range r.clients {
		c.Journal(r.id, len(history))
	}
	return int64(len(history))
}

// awaitRenumbering waits until every client was told that the room's numbering is another one.
func (r *room) awaitRenumbering() {
	r.t.Helper()
	for _, c := range r.clients {
		e2e.Eventually(r.t, 60*time.Second, c.User.Name+" connects again and does not recover", func() bool { return c.Renumberings() > 0 })
	}
}

// mustAgree fails the test unless every journal holds exactly what the database has.
func (r *room) mustAgree() {
	r.t.Helper()
	history := e2e.History(r.owner(), r.id, 0, e2e.All)
	for _, c := range r.clients {
		e2e.MustBeTail(r.t, c.User.Name, c.Journal(r.id, len(history)), history)
		c.MustBeInOrder()
	}
	r.own.mustBe(history)
}

// mustRefund fails the test unless the packet ends early, and has paid exactly these grabs.
func (r *room) mustRefund(p wire.Packet, paid ...wire.GrabReply) {
	r.t.Helper()
	var details wire.PacketReply
	e2e.Eventually(r.t, 30*time.Second, "the packet that was open ends early", func() bool {
		details = e2e.Call[wire.PacketReply](r.owner(), "packet", wire.PacketRequest{Packet: p.ID})
		return details.State.Status == "expired"
	})
	if len(details.Claims) != len(paid) {
		r.t.Fatalf("the packet has %d claims, want %d: %+v", len(details.Claims), len(paid), details.Claims)
	}
	refunded := p.Total
	for i, g := range paid {
		if c := details.Claims[i]; c.Amount != g.Amount {
			r.t.Errorf("claim %d is %+v, want that of %+v", i, c, g)
		}
		refunded -= g.Amount
	}
	if details.State.Refunded != refunded {
		r.t.Errorf("refunded %d, want %d", details.State.Refunded, refunded)
	}
}

// lostTail is what the database forgets after a point in time.
type lostTail struct {
	open     wire.Packet // sent before, open then and now
	first    wire.GrabReply
	second   wire.GrabReply // its payment is lost
	revealed wire.Packet    // sent and finished afterwards, with the seed that was the owner's next one
	gone     wire.Packet    // sent afterwards, still open, one share granted
}

// before does what the database keeps.
func (r *room) before() *lostTail {
	r.t.Helper()
	r.say(4)
	lost := &lostTail{open: r.send("open", 5, 3600)}
	lost.first = r.grab(r.clients[1], lost.open)
	return lost
}

// after does what the database loses.
func (r *room) after(lost *lostTail) {
	r.t.Helper()
	r.say(3)
	lost.second = r.grab(r.clients[0], lost.open)
	lost.revealed = r.send("revealed", 1, 3600)
	r.grab(r.clients[1], lost.revealed)
	r.owner().Await(r.id, "the end of the packet", func(e wire.Entry) bool { return e.Kind == "packet_done" })
	lost.gone = r.send("gone", 2, 5)
	r.grab(r.clients[1], lost.gone)
	r.last()
}

// mustNotReuse fails the test if the seed of the owner's next packet was revealed before.
func (r *room) mustNotReuse(lost *lostTail) {
	r.t.Helper()
	if next := r.send("next", 1, 3600); next.Commitment == lost.revealed.Commitment {
		r.t.Error("a packet has a seed that was revealed before")
	}
}
