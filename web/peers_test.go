package web

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/hub"
	"hongbao/web/wire"
)

// pair is two instances over the same engines.
func pair(t *testing.T, change ...func(*Options)) (a, b *testServer) {
	t.Helper()
	house := newTestHouse(t)
	return house.open(t, change...), house.open(t, change...)
}

func isSubscribe(p *protocol.Push) bool   { return p.Subscribe != nil }
func isUnsubscribe(p *protocol.Push) bool { return p.Unsubscribe != nil }
func isPub(p *protocol.Push) bool         { return p.Pub != nil }

// What a user does on one instance reaches his sockets on another, and what others do there.
func TestInstancesAreOneSystem(t *testing.T) {
	a, b := pair(t)
	bob, ann := a.signIn(t, "bob", 500), a.signIn(t, "ann", 0)
	room := a.room(t, bob, "hall").ID
	c, _ := connected(t, b.listen(t), wire.JSON, "ann")

	call[wire.JoinReply](t, a, ann, "join", wire.JoinRequest{Room: room})
	c.push(isSubscribe)
	said := a.say(t, bob, room, "hello")
	if p := c.push(isPub); p.Pub.Offset != uint64(said.Seq) {
		t.Errorf("publication %v", p)
	}
	sent := call[wire.SendPacketReply](t, a, bob, "send_packet", wire.SendPacketRequest{Room: room, Key: "k", Total: 100, Count: 2})
	c.push(isPub)
	won := call[wire.GrabReply](t, a, ann, "grab", wire.GrabRequest{Packet: sent.Packet.ID})
	c.push(func(p *protocol.Push) bool {
		return p.Message != nil && messageOf(t, p).Wallet != nil && messageOf(t, p).Wallet.Balance == won.Amount
	})
	call[wire.LeaveReply](t, a, ann, "leave", wire.LeaveRequest{Room: room})
	c.push(isUnsubscribe)
	a.say(t, bob, room, "not for her")
	call[wire.JoinReply](t, a, ann, "join", wire.JoinRequest{Room: room})
	if p := c.push(func(p *protocol.Push) bool { return isSubscribe(p) || isPub(p) }); p.Subscribe == nil {
		t.Errorf("one who had left heard %v", p)
	}
}

// An instance that remembers how a user stands to a room hears when that changes elsewhere, though he has no socket here.
func TestStandingIsForgottenElsewhere(t *testing.T) {
	a, b := pair(t)
	bob, ann := a.signIn(t, "bob", 0), a.signIn(t, "ann", 0)
	room := a.room(t, bob, "hall").ID
	for range 3 {
		call[wire.JoinReply](t, a, ann, "join", wire.JoinRequest{Room: room})
		b.eventually(t, "she is in", func() bool {
			st, err := b.chat.Standing(t.Context(), room, "ann")
			return err == nil && st.In
		})
		call[wire.LeaveReply](t, a, ann, "leave", wire.LeaveRequest{Room: room})
		b.eventually(t, "she is out", func() bool {
			st, err := b.chat.Standing(t.Context(), room, "ann")
			return err == nil && !st.In
		})
	}
}

// The limit of sockets holds over all instances: the oldest goes, wherever it is.
func TestSocketsPerUserOverInstances(t *testing.T) {
	a, b := pair(t, func(o *Options) { o.SocketsPerUser = 3 })
	addrs := []string{a.listen(t), b.listen(t)}
	var mine []*rawClient
	for i := range 5 {
		c, _ := connected(t, addrs[i%2], wire.JSON, "ann")
		mine = append(mine, c)
		a.eventually(t, "noted", func() bool {
			out, err := a.o.Presence.Online(t.Context(), []string{"ann"})
			return err == nil && out[0]
		})
		if i >= 3 {
			mine[i-3].mustClose(wire.ClosePushedOut)
		}
	}
	for _, c := range mine[2:] {
		rpc[wire.WalletReply](c, 2, "wallet", wire.WalletRequest{})
	}
}

// One who is revoked loses his sockets on every instance, and nobody else does.
func TestDisconnectEverywhere(t *testing.T) {
	a, b := pair(t)
	here, _ := connected(t, a.listen(t), wire.JSON, "ann")
	addr := b.listen(t)
	there, _ := connected(t, addr, wire.Protobuf, "ann")
	other, _ := connected(t, addr, wire.JSON, "bob")
	a.Disconnect("ann")
	here.mustClose(wire.CloseRevoked)
	there.mustClose(wire.CloseRevoked)
	rpc[wire.WalletReply](other, 2, "wallet", wire.WalletRequest{})
}

// lossyBus loses what comes in while it is told to, and notices only when told so.
type lossyBus struct {
	hub.Bus
	loses    atomic.Bool
	mu       sync.Mutex
	receiver hub.Receiver // guarded by mu
}

func (l *lossyBus) Run(ctx context.Context, r hub.Receiver) error {
	l.mu.Lock()
	l.receiver = r
	l.mu.Unlock()
	return l.Bus.Run(ctx, lossyReceiver{r, l})
}

func (l *lossyBus) suspect() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.receiver.Suspect()
}

type lossyReceiver struct {
	hub.Receiver
	bus *lossyBus
}

func (r lossyReceiver) Receive(topic string, payload []byte) {
	if !r.bus.loses.Load() {
		r.Receiver.Receive(topic, payload)
	}
}

// deafPair is two instances, of which the second one's bus loses what the test wants.
func deafPair(t *testing.T, change ...func(*Options)) (a, b *testServer, bus *lossyBus) {
	t.Helper()
	house := newTestHouse(t)
	a = house.open(t)
	bus = &lossyBus{}
	house.wrap = func(inner hub.Bus) hub.Bus {
		bus.Bus = inner
		return bus
	}
	return a, house.open(t, change...), bus
}

// A word that the bus has lost is made up for when the loss is noticed: sockets are where their user is.
func TestLostSignalsAreMadeUpFor(t *testing.T) {
	a, b, bus := deafPair(t, func(o *Options) { o.Alone = true }) // so that connecting is no reason to look
	bob, ann := a.signIn(t, "bob", 0), a.signIn(t, "ann", 0)
	stays, goes, comes := a.room(t, bob, "stays").ID, a.room(t, bob, "goes").ID, a.room(t, bob, "comes").ID
	for _, room := range []string{stays, goes} {
		call[wire.JoinReply](t, a, ann, "join", wire.JoinRequest{Room: room})
	}
	c, _ := connected(t, b.listen(t), wire.JSON, "ann")
	a.say(t, bob, stays, "the bus works")
	c.push(isPub)

	bus.loses.Store(true)
	call[wire.LeaveReply](t, a, ann, "leave", wire.LeaveRequest{Room: goes})
	call[wire.JoinReply](t, a, ann, "join", wire.JoinRequest{Room: comes})
	bus.loses.Store(false)
	if n := b.hub.Listeners(roomTopic(comes)); n != 0 {
		t.Fatalf("%d listen to a room whose signal was lost: this test proves nothing", n)
	}
	bus.suspect()
	b.eventually(t, "her socket is where she is", func() bool {
		return b.hub.Listeners(roomTopic(comes)) == 1 && b.hub.Listeners(roomTopic(goes)) == 0 && b.hub.Listeners(roomTopic(stays)) == 1
	})
	if p := c.push(isSubscribe); p.Channel != "room:"+comes {
		t.Errorf("subscribed to %s", p.Channel)
	}
	if p := c.push(isUnsubscribe); p.Channel != "room:"+goes {
		t.Errorf("unsubscribed from %s", p.Channel)
	}
}

// A socket may connect before the bus listens for its user: what was said meanwhile is looked up a moment later.
func TestConnectedBeforeTheBusListens(t *testing.T) {
	a, b, bus := deafPair(t)
	bob, ann := a.signIn(t, "bob", 0), a.signIn(t, "ann", 0)
	room := a.room(t, bob, "hall").ID
	bus.loses.Store(true)
	c, _ := connected(t, b.listen(t), wire.JSON, "ann")
	call[wire.JoinReply](t, a, ann, "join", wire.JoinRequest{Room: room})
	bus.loses.Store(false)
	if p := c.push(isSubscribe); p.Channel != "room:"+room {
		t.Errorf("subscribed to %s", p.Channel)
	}
}

// The progress of a packet that another instance still tells goes nowhere once its end has been delivered.
func TestProgressStopsAtTheEnd(t *testing.T) {
	n := NewEncoder()
	progress := hub.Message{Data: marshal(wire.Message{PacketProgress: &wire.ProgressPush{Packet: "p", Room: "r", Claimed: 1, Count: 2}})}
	other := hub.Message{Data: marshal(wire.Message{PacketProgress: &wire.ProgressPush{Packet: "q", Room: "r", Claimed: 1, Count: 2}})}
	text := hub.Message{Seq: 1, Data: []byte(`{"seq":1,"kind":"text","body":{"text":"\"kind\":\"packet_done\" p"}}`)}
	done := hub.Message{Seq: 2, Data: []byte(`{"seq":2,"kind":"packet_done","body":{"packet":"p","reason":"drained"}}`)}
	tells := func(m hub.Message) bool { return len(n.Encode(hub.JSON, "room:r", m)) > 0 }
	if !tells(text) || !tells(progress) || !tells(done) {
		t.Error("something was kept back before the end")
	}
	if tells(progress) {
		t.Error("progress after the end")
	}
	if !tells(other) {
		t.Error("another packet's progress was kept back")
	}
	for i := range 3 * manyEnded {
		n.end([]byte(`{"kind":"packet_done","body":{"packet":"` + string(rune('a'+i%26)) + string(rune(i+1000)) + `"}}`))
	}
	if len(n.ended)+len(n.old) > 2*manyEnded {
		t.Errorf("%d ended packets are kept in mind", len(n.ended)+len(n.old))
	}
}
