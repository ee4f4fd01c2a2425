package web

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
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
	sent := call[wire.SendPacketReply](t, a, bob, "send_packet", wire.SendPacketRequest{Room: room, Key: "k", Total: 100, Count: new(2)})
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

// countedPresence counts the sockets that were noted.
type countedPresence struct {
	chat.Presence
	noted *atomic.Int32
}

func (p countedPresence) Enter(ctx context.Context, user, socket string, most int) (out []string, first bool, err error) {
	defer p.noted.Add(1)
	return p.Presence.Enter(ctx, user, socket, most)
}

// The limit of sockets holds over all instances: the oldest goes, wherever it is.
func TestSocketsPerUserOverInstances(t *testing.T) {
	var noted atomic.Int32
	a, b := pair(t, func(o *Options) {
		o.SocketsPerUser = 3
		o.Presence = countedPresence{o.Presence, &noted}
	})
	addrs := []string{a.listen(t), b.listen(t)}
	var mine []*rawClient
	for i := range 5 {
		c, _ := connected(t, addrs[i%2], wire.JSON, "ann")
		mine = append(mine, c)
		a.eventually(t, "noted", func() bool { return noted.Load() == int32(i+1) })
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

// The progress of a packet, as several instances tell it, never goes back, and goes nowhere once the end was delivered.
func TestProgressNeverGoesBack(t *testing.T) {
	n := NewEncoder()
	progress := func(packet string, claimed int) hub.Message {
		return hub.Message{Data: marshal(wire.Message{PacketProgress: &wire.ProgressPush{Packet: packet, Room: "r", Claimed: claimed, Count: 20}})}
	}
	text := hub.Message{Seq: 1, Data: []byte(`{"seq":1,"kind":"text","body":{"text":"\"kind\":\"packet_done\" p"}}`)}
	done := hub.Message{Seq: 2, Data: []byte(`{"seq":2,"kind":"packet_done","body":{"packet":"p","reason":"drained"}}`)}
	for i, test := range []struct {
		message hub.Message
		told    bool
	}{
		{progress("p", 3), true}, {progress("p", 9), true}, {progress("p", 4), false}, {progress("q", 4), true}, {text, true},
		{progress("p", 9), true}, {progress("p", 10), true}, {done, true}, {progress("p", 11), false}, {progress("q", 5), true},
	} {
		for _, e := range []hub.Encoding{hub.JSON, hub.Protobuf} {
			if told := len(n.Encode(e, "room:r", test.message)) > 0; told != test.told {
				t.Errorf("message %d: told %t, want %t", i, told, test.told)
			}
		}
	}
	for i := range 3 * manyTold {
		n.Encode(hub.JSON, "room:r", progress(strconv.Itoa(i), 1))
	}
	if len(n.told)+len(n.old) > 2*manyTold {
		t.Errorf("%d packets are kept in mind", len(n.told)+len(n.old))
	}
}

// However often a loss is suspected, each user is looked up once, and who cannot be is looked up behind the others.
func TestRechecksDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looked []string
		r := newRechecks(func(_ context.Context, user string) error {
			looked = append(looked, user)
			if user == "a" && len(looked) == 1 {
				return errors.New("no answer")
			}
			return nil
		}, slog.New(slog.DiscardHandler))
		for range 300 {
			r.add("a", "b")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		r.run(ctx)
		if want := []string{"a", "b", "a"}; !slices.Equal(looked, want) {
			t.Errorf("looked up %v, want %v", looked, want)
		}
	})
}

// A word from the bus that must be looked into holds up nobody: the bus goes on meanwhile.
func TestSignalsDoNotHoldUpTheBus(t *testing.T) {
	a, b := pair(t)
	bob, ann := a.signIn(t, "bob", 0), a.signIn(t, "ann", 0)
	rooms := []string{a.room(t, bob, "one").ID, a.room(t, bob, "two").ID}
	addr := b.listen(t)
	hers, _ := connected(t, addr, wire.JSON, "ann")
	his, _ := connected(t, addr, wire.JSON, "bob")
	free := make(chan struct{})
	b.store.holdStanding(free)
	call[wire.JoinReply](t, a, ann, "join", wire.JoinRequest{Room: rooms[0]})
	began := time.Now()
	said := a.say(t, bob, rooms[1], "goes on")
	if p := his.push(isPub); p.Pub.Offset != uint64(said.Seq) {
		t.Errorf("heard %v", p)
	}
	if took := time.Since(began); took > standingTime*3/4 {
		t.Errorf("heard after %v, when the other had been waited for", took)
	}
	close(free)
	if p := hers.push(isSubscribe); p.Channel != "room:"+rooms[0] {
		t.Errorf("subscribed to %s", p.Channel)
	}
}
