package web

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// twoInstances returns two servers that share the same stores and bus.
func twoInstances(t *testing.T, change ...func(*Options)) (a, b *testServer) {
	t.Helper()
	engines := newTestEngines(t)
	return engines.open(t, change...), engines.open(t, change...)
}

func isSubscribe(p *protocol.Push) bool   { return p.Subscribe != nil }
func isUnsubscribe(p *protocol.Push) bool { return p.Unsubscribe != nil }
func isPub(p *protocol.Push) bool         { return p.Pub != nil }

// TestStandingIsForgottenElsewhere changes a membership that another instance has cached. That instance must drop it
// from its cache, even if the user has no socket there.
func TestStandingIsForgottenElsewhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b := twoInstances(t)
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
	})
}

// countedPresence is a presence directory that counts the sockets added to it.
type countedPresence struct {
	chat.Presence
	noted *atomic.Int32
}

func (p countedPresence) Enter(ctx context.Context, user, socket string, most int) (out []string, first bool, err error) {
	defer p.noted.Add(1)
	return p.Presence.Enter(ctx, user, socket, most)
}

// TestSocketsPerUserOverInstances opens more sockets than a user may have, on several instances. The oldest must be
// closed, wherever it is.
func TestSocketsPerUserOverInstances(t *testing.T) {
	t.Parallel()
	var noted atomic.Int32
	a, b := twoInstances(t, func(o *Options) {
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

// lossyBus drops incoming messages while the test has switched that on. It reports the loss when the test says so.
type lossyBus struct {
	hub.Bus
	up       chan struct{} // closed when the bus is up and its instance knows it
	once     sync.Once     // closes up
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

func (r lossyReceiver) Down(down bool) {
	r.Receiver.Down(down)
	if !down {
		r.bus.once.Do(func() { close(r.bus.up) })
	}
}

func (r lossyReceiver) Receive(topic string, payload []byte) {
	if !r.bus.loses.Load() {
		r.Receiver.Receive(topic, payload)
	}
}

// twoInstancesLossyBus returns two instances. The second one has the returned lossyBus, which is up.
func twoInstancesLossyBus(t *testing.T, change ...func(*Options)) (a, b *testServer, bus *lossyBus) {
	t.Helper()
	engines := newTestEngines(t)
	a = engines.open(t)
	bus = &lossyBus{up: make(chan struct{})}
	engines.wrap = func(inner hub.Bus) hub.Bus {
		bus.Bus = inner
		return bus
	}
	b = engines.open(t, change...)
	<-bus.up // before that the second instance caches nothing, and so asks the store
	return a, b, bus
}

// TestLostSignalsAreMadeUpFor loses signals on the bus. When the loss is reported, all sockets must be put into the
// right rooms.
func TestLostSignalsAreMadeUpFor(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b, bus := twoInstancesLossyBus(t, func(o *Options) { o.Alone = true }) // with Alone, connecting does not cause a recheck
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
		if n := b.hub.Listeners(push.RoomTopic(comes)); n != 0 {
			t.Fatalf("%d listen to a room whose signal was lost: this test proves nothing", n)
		}
		bus.suspect()
		b.eventually(t, "her socket is where she is", func() bool {
			return b.hub.Listeners(push.RoomTopic(comes)) == 1 && b.hub.Listeners(push.RoomTopic(goes)) == 0 && b.hub.Listeners(push.RoomTopic(stays)) == 1
		})
		if p := c.push(isSubscribe); p.Channel != "room:"+comes {
			t.Errorf("subscribed to %s", p.Channel)
		}
		if p := c.push(isUnsubscribe); p.Channel != "room:"+goes {
			t.Errorf("unsubscribed from %s", p.Channel)
		}
	})
}

// TestConnectedBeforeTheBusListens connects a socket before the bus is subscribed to the user's topic. Changes made in
// the meantime must be found a moment later.
func TestConnectedBeforeTheBusListens(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b, bus := twoInstancesLossyBus(t)
		bob, ann := a.signIn(t, "bob", 0), a.signIn(t, "ann", 0)
		room := a.room(t, bob, "hall").ID
		bus.loses.Store(true)
		b.store.whenListed("ann", func() { call[wire.JoinReply](t, a, ann, "join", wire.JoinRequest{Room: room}) }) // during the connect
		c, _ := connected(t, b.listen(t), wire.JSON, "ann")
		bus.loses.Store(false)
		if p := c.push(isSubscribe); p.Channel != "room:"+room {
			t.Errorf("subscribed to %s", p.Channel)
		}
	})
}

// TestSignalsDoNotHoldUpTheBus has a signal wait for the store. Other messages of the bus must not be delayed.
func TestSignalsDoNotHoldUpTheBus(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b := twoInstances(t, withStandingTime)
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
			t.Errorf("got %v", p)
		}
		if took := time.Since(began); took > standingTime*3/4 {
			t.Errorf("got it after %v: the bus has waited for the signal", took)
		}
		close(free)
		if p := hers.push(isSubscribe); p.Channel != "room:"+rooms[0] {
			t.Errorf("subscribed to %s", p.Channel)
		}
	})
}

// TestFinalEntryForgetsTheStanding loses the notice and the signal of a ban. The entry that records the ban still arrives on the other instance,
// where another member has a socket: the banned user must not read there any more.
func TestFinalEntryForgetsTheStanding(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b, bus := twoInstancesFilteredBus(t)
		ann, bob := a.signIn(t, "ann", 0), a.signIn(t, "bob", 0)
		hers, _ := connected(t, b.listen(t), wire.JSON, "ann")
		room := call[wire.CreateRoomReply](t, a, ann, "create_room", wire.CreateRoomRequest{Key: "k", Name: "n", Kind: "public", Members: []string{"bob"}}).Room.ID
		hers.push(isSubscribe)
		if st, err := b.chat.Standing(t.Context(), room, "bob"); err != nil || !st.In {
			t.Fatal(st, err)
		}
		bus.pick(func(topic string, _ []byte) bool { return topic != push.RoomTopic(room) }, nil)
		if _, cached := b.chat.CachedStanding(room, "bob"); !cached {
			t.Fatal("the standing is not cached: this test proves nothing")
		}
		call[wire.KickReply](t, a, ann, "kick", wire.KickRequest{Room: room, User: "bob", Ban: true})
		hers.entries(room, 1, 1)
		if st, err := b.chat.Standing(t.Context(), room, bob.User.ID); err != nil || !st.Banned {
			t.Errorf("after the entry that records the ban, the other instance has %+v, %v", st, err)
		}
	})
}
