package web

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/wire"
)

// askedStore has something to do when it has listed bob's rooms, and when it is asked how somebody stands to one: once each.
type askedStore struct {
	chat.Store
	listed, asked atomic.Pointer[func()] // nil: nothing
}

func (s *askedStore) Memberships(ctx context.Context, user string) ([]chat.Membership, error) {
	rooms, err := s.Store.Memberships(ctx, user)
	if user == "bob" {
		if listed := s.listed.Swap(nil); listed != nil {
			(*listed)()
		}
	}
	return rooms, err
}

func (s *askedStore) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	if asked := s.asked.Swap(nil); asked != nil {
		(*asked)()
	}
	return s.Store.Standing(ctx, room, user)
}

// comer is bob, who connects while ann is at work in their room.
type comer struct {
	*testServer
	asks     *askedStore
	addr     string
	ann, bob Caller
	room     string
}

func newComer(t *testing.T) *comer {
	t.Helper()
	house := newTestHouse(t)
	asks := &askedStore{Store: house.store.Store}
	house.store.Store = asks
	c := &comer{testServer: house.open(t, func(o *Options) { o.Alone = true }), asks: asks}
	c.addr, c.ann, c.bob = c.listen(t), c.signIn(t, "ann", 0), c.signIn(t, "bob", 0)
	request := wire.CreateRoomRequest{Key: "k", Name: "n", Kind: "private", Members: []string{"bob"}}
	c.room = call[wire.CreateRoomReply](t, c.testServer, c.ann, "create_room", request).Room.ID
	connected(t, c.addr, wire.JSON, "ann") // somebody listens here, so the room's position is known
	c.say(t, c.ann, c.room, "for all")
	return c
}

// meanwhile sends bob's connect command, and has something done as soon as his rooms are read.
func (c *comer) meanwhile(t *testing.T, e wire.Encoding, do func()) *rawClient {
	t.Helper()
	epoch, err := c.chat.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.asks.listed.Store(&do)
	his := dial(t, c.addr, e)
	his.send(`{"id":1,"connect":{"token":"` + goodToken(t, "bob") + `","subs":` + subs(epoch, map[string]int64{c.room: 0}) + `}}`)
	return his
}

func (c *comer) kick(t *testing.T) {
	t.Helper()
	call[wire.KickReply](t, c.testServer, c.ann, "kick", wire.KickRequest{Room: c.room, User: "bob", Ban: true})
}

// Who is put out while he connects is handed nothing that was said since.
func TestPutOutWhileConnecting(t *testing.T) {
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		c := newComer(t)
		his := c.meanwhile(t, e, func() {
			c.kick(t)
			c.say(t, c.ann, c.room, "not for him")
		})
		r := his.next().Connect
		if len(r.Subs) != 0 || len(dataOf(t, r).Rooms) != 0 {
			t.Errorf("connected to %v, %+v", r.Subs, dataOf(t, r).Rooms)
		}
		c.say(t, c.ann, c.room, "not for him")
		NewPublisher(c.hub).ToUser("bob", chat.ReadMoved{Room: "last", User: "bob"})
		if p := his.push(func(*protocol.Push) bool { return true }); p.Message == nil || messageOf(t, p).Read == nil {
			t.Errorf("one who is out hears %v", p)
		}
		if n := c.hub.Listeners(roomTopic(c.room)); n != 1 {
			t.Errorf("%d listen to the room", n)
		}
	})
}

// The entry that puts him out may have come to an instance before the word of it, and he is remembered there as a member.
func TestPutOutElsewhereWhileConnecting(t *testing.T) {
	house := newTestHouse(t)
	asks := &askedStore{Store: house.store.Store}
	house.store.Store = asks
	a, b, bus := house.pickyPair(t)
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
	bus.pick(nil, func(topic string, _ []byte) bool { return topic != roomTopic(room) })
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

// Even while it is asked whether he is out something may be said, which then waits to be sent to him: it never is.
func TestToldTooMuchWhileConnecting(t *testing.T) {
	c := newComer(t)
	more := func() { c.say(t, c.ann, c.room, "not for him") }
	his := c.meanwhile(t, wire.JSON, func() {
		c.kick(t)
		c.say(t, c.ann, c.room, "not for him") // and she is remembered as a member
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

// What others say while he connects comes once, with the reply or behind it.
func TestToldMoreWhileConnecting(t *testing.T) {
	c := newComer(t)
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
