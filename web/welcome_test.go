package web

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/user/api"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// hookedStore is a store that calls functions of the test: after it has read bob's rooms, and before it reads a
// standing. Each is called once.
type hookedStore struct {
	chat.Store
	listed, asked atomic.Pointer[func()] // nil: nothing is called
}

func (s *hookedStore) Memberships(ctx context.Context, user string) ([]chat.Membership, error) {
	rooms, err := s.Store.Memberships(ctx, user)
	if user == "bob" {
		if listed := s.listed.Swap(nil); listed != nil {
			(*listed)()
		}
	}
	return rooms, err
}

func (s *hookedStore) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	if asked := s.asked.Swap(nil); asked != nil {
		(*asked)()
	}
	return s.Store.Standing(ctx, room, user)
}

// connectFixture is a server on which bob connects while ann changes things in their common room.
type connectFixture struct {
	*testServer
	asks     *hookedStore
	addr     string
	ann, bob api.Caller
	room     string
}

func newConnectFixture(t *testing.T) *connectFixture {
	t.Helper()
	engines := newTestEngines(t)
	asks := &hookedStore{Store: engines.store.Store}
	engines.store.Store = asks
	c := &connectFixture{testServer: engines.open(t, func(o *Options) { o.Alone = true }), asks: asks}
	c.addr, c.ann, c.bob = c.listen(t), c.signIn(t, "ann", 0), c.signIn(t, "bob", 0)
	request := wire.CreateRoomRequest{Key: "k", Name: "n", Kind: "private", Members: []string{"bob"}}
	c.room = call[wire.CreateRoomReply](t, c.testServer, c.ann, "create_room", request).Room.ID
	connected(t, c.addr, wire.JSON, "ann") // so that the hub has a subscription to the room
	c.say(t, c.ann, c.room, "for all")
	return c
}

// meanwhile sends bob's connect command. It calls do as soon as the server has read bob's rooms.
func (c *connectFixture) meanwhile(t *testing.T, e wire.Encoding, do func()) *rawClient {
	t.Helper()
	epoch, err := c.chat.Epoch(t.Context())
	noError(t, err)
	c.asks.listed.Store(&do)
	his := dial(t, c.addr, e)
	his.send(`{"id":1,"connect":{"token":"` + goodToken(t, "bob") + `","subs":` + subs(epoch, map[string]int64{c.room: 0}) + `}}`)
	return his
}

func (c *connectFixture) kick(t *testing.T) {
	t.Helper()
	call[wire.KickReply](t, c.testServer, c.ann, "kick", wire.KickRequest{Room: c.room, User: "bob", Ban: true})
}

// TestKickedWhileConnecting kicks bob while bob connects. Bob must receive no entry that was sent after the kick.
func TestKickedWhileConnecting(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		bothEncodings(t, func(t *testing.T, e wire.Encoding) {
			c := newConnectFixture(t)
			his := c.meanwhile(t, e, func() {
				c.kick(t)
				c.say(t, c.ann, c.room, "not for him")
			})
			r := his.next().Connect
			if len(r.Subs) != 0 || len(dataOf(t, r).Rooms) != 0 {
				t.Errorf("connected to %v, %+v", r.Subs, dataOf(t, r).Rooms)
			}
			c.say(t, c.ann, c.room, "not for him")
			push.NewPublisher(c.hub, chat.NewID(time.Now())).ToUser("bob", chat.ReadMoved{Room: "last", User: "bob"})
			if p := his.push(func(*protocol.Push) bool { return true }); p.Message == nil || messageOf(t, p).Read == nil {
				t.Errorf("a kicked user got %v", p)
			}
			if n := c.hub.Listeners(push.RoomTopic(c.room)); n != 1 {
				t.Errorf("%d listen to the room", n)
			}
		})
	})
}

// TestKickedElsewhereWhileConnecting kicks bob on another instance while bob connects. The entry of the kick may arrive
// before its signal, while bob is still cached as a member.
func TestKickedElsewhereWhileConnecting(t *testing.T) {
	t.Parallel()
	engines := newTestEngines(t)
	asks := &hookedStore{Store: engines.store.Store}
	engines.store.Store = asks
	a, b, bus := engines.twoInstancesFilteredBus(t)
	ann := a.signIn(t, "ann", 0)
	a.signIn(t, "bob", 0)
	addr := b.listen(t)
	hers, _ := connected(t, addr, wire.JSON, "ann")
	request := wire.CreateRoomRequest{Key: "k", Name: "n", Kind: "private", Members: []string{"bob"}}
	room := call[wire.CreateRoomReply](t, a, ann, "create_room", request).Room.ID
	hers.push(isSubscribe)
	if st, err := b.chat.Standing(t.Context(), room, "bob"); err != nil || !st.In {
		t.Fatalf("stands %+v, %v", st, err)
	}
	bus.pick(nil, func(topic string, _ []byte) bool { return topic != push.RoomTopic(room) })
	kick := func() {
		call[wire.KickReply](t, a, ann, "kick", wire.KickRequest{Room: room, User: "bob"})
		a.say(t, ann, room, "not for him")
		hers.entries(room, 1, 2)
	}
	asks.listed.Store(&kick)
	if _, r := connected(t, addr, wire.JSON, "bob"); len(r.Subs) != 0 {
		t.Errorf("connected to %v", r.Subs)
	}
	bus.release()
}

// TestEntryAfterKickWhileConnecting sends an entry after the kick, while bob's standing is read. The queued entry must
// never be sent to bob.
func TestEntryAfterKickWhileConnecting(t *testing.T) {
	t.Parallel()
	c := newConnectFixture(t)
	more := func() { c.say(t, c.ann, c.room, "not for him") }
	his := c.meanwhile(t, wire.JSON, func() {
		c.kick(t)
		c.say(t, c.ann, c.room, "not for bob") // ann is cached as a member
		c.asks.asked.Store(&more)
	})
	r, err := his.read()
	if err == nil {
		t.Fatalf("got %v", r)
	}
	if _, r := connected(t, c.addr, wire.JSON, "bob"); len(r.Subs) != 0 {
		t.Errorf("then connected to %v", r.Subs)
	}
}

// TestEntryWhileConnecting sends an entry during the connect. The client must receive it once, in the reply or after
// it.
func TestEntryWhileConnecting(t *testing.T) {
	t.Parallel()
	c := newConnectFixture(t)
	his := c.meanwhile(t, wire.JSON, func() { c.say(t, c.ann, c.room, "for him") })
	r := his.next().Connect
	sub := r.Subs["room:"+c.room]
	if sub == nil || sub.Offset != 2 || !sub.Recovered || len(sub.Publications) != 2 {
		t.Fatalf("connected to %v", r.Subs)
	}
	if rooms := dataOf(t, r).Rooms; len(rooms) != 1 || rooms[0].LastSeq != 2 {
		t.Errorf("rooms: %+v", rooms)
	}
	said := c.say(t, c.ann, c.room, "for him")
	if p := his.push(isPub); p.Pub.Offset != uint64(said.Seq) || said.Seq != 3 {
		t.Errorf("then came %v", p)
	}
}
