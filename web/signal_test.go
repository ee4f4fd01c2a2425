package web

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/wire"
)

// slowStore tells how somebody stands to a room when it is allowed to, and how many have asked at once.
type slowStore struct {
	chat.Store
	free        chan struct{} // nil: it is
	asking, top atomic.Int32
}

func (s *slowStore) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	s.top.Store(max(s.top.Load(), s.asking.Add(1)))
	defer s.asking.Add(-1)
	if s.free != nil {
		<-s.free
	}
	return s.Store.Standing(ctx, room, user)
}

// However many words for a session come by the bus, and however slow the store is, nobody waits: not the bus, not the
// session's reader; and they are obeyed in the order in which they came.
func TestSignalsWaitInOrder(t *testing.T) {
	house := newTestHouse(t)
	slow := &slowStore{Store: house.store.Store}
	house.store.Store = slow
	s := house.open(t, func(o *Options) { o.Alone = true })
	bob, ann := s.signIn(t, "bob", 0), s.signIn(t, "ann", 0)
	var words []signal
	for i := range 5 {
		room := s.room(t, bob, fmt.Sprint(i)).ID
		m, err := s.chat.Join(t.Context(), ann.User, room)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, enteredSignal(m))
	}
	c, _ := connected(t, s.listen(t), wire.JSON, "ann")
	session := s.sessionOf("ann")
	for _, word := range words {
		session.conn.Unsubscribe(roomTopic(word.Room), 0)
	}
	slow.free = make(chan struct{})
	began := time.Now()
	for _, word := range words {
		word.By = "another instance"
		session.Signal("", word.encode())
	}
	rpc[wire.WalletReply](c, 2, "wallet", wire.WalletRequest{})
	if took := time.Since(began); took > standingTime*3/4 {
		t.Errorf("the store was waited for: %v", took)
	}
	close(slow.free)
	for _, word := range words {
		if p := c.push(isSubscribe); p.Channel != roomTopic(word.Room) {
			t.Errorf("subscribed to %s, want %s", p.Channel, roomTopic(word.Room))
		}
	}
	if n := slow.top.Load(); n != 1 {
		t.Errorf("%d words were looked into at a time", n)
	}
}

// A room that is entered here while another word is being looked into is entered before anything of it comes.
func TestEnteredBehindAnother(t *testing.T) {
	s := newTestServer(t)
	bob, ann := s.signIn(t, "bob", 0), s.signIn(t, "ann", 0)
	room, other := s.room(t, bob, "hall").ID, s.room(t, bob, "other").ID
	addr := s.listen(t)
	c, _ := connected(t, addr, wire.JSON, "ann")
	his, _ := connected(t, addr, wire.JSON, "bob")
	s.say(t, bob, room, "before") // he is remembered as a member
	free := make(chan struct{})
	s.store.holdStanding(free)
	s.sessionOf("ann").Signal("", signal{By: "another instance", Room: other}.encode())
	call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room})
	s.say(t, bob, room, "at once")
	his.entries(room, 1, 2)
	close(free)
	isHere := func(p *protocol.Push) bool { return p.Channel == roomTopic(room) && (isSubscribe(p) || isPub(p)) }
	p := c.push(isHere)
	if p.Subscribe == nil || p.Subscribe.Offset != 2 {
		t.Fatalf("first came %v", p)
	}
	s.say(t, bob, room, "then")
	if p := c.push(isHere); p.Pub == nil || p.Pub.Offset != 3 {
		t.Errorf("then came %v", p)
	}
}

// What is told here is obeyed when the teller goes on.
func TestSignalsOfThisInstanceAreObeyedAtOnce(t *testing.T) {
	s := newTestServer(t)
	bob, ann := s.signIn(t, "bob", 0), s.signIn(t, "ann", 0)
	room := s.room(t, bob, "hall").ID
	connected(t, s.listen(t), wire.JSON, "ann")
	for range 20 {
		call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room})
		if n := s.hub.Listeners(roomTopic(room)); n != 1 {
			t.Fatalf("joined, and %d listen", n)
		}
		call[wire.LeaveReply](t, s, ann, "leave", wire.LeaveRequest{Room: room})
		if n := s.hub.Listeners(roomTopic(room)); n != 0 {
			t.Fatalf("left, and %d listen", n)
		}
	}
}

// A comparison with the store waits for it without holding up the session.
func TestComparingHoldsUpNobody(t *testing.T) {
	s := newTestServer(t)
	room := s.room(t, s.signIn(t, "ann", 0), "hall").ID
	c, _ := connected(t, s.listen(t), wire.JSON, "ann")
	session := s.sessionOf("ann")
	free, done := make(chan struct{}), make(chan struct{})
	s.store.holdStanding(free)
	go func() {
		session.compare([]chat.Membership{})
		close(done)
	}()
	s.eventually(t, "the comparison", func() bool {
		session.mu.Lock()
		defer session.mu.Unlock()
		return session.obeying
	})
	began := time.Now()
	rpc[wire.WalletReply](c, 2, "wallet", wire.WalletRequest{})
	if took := time.Since(began); took > standingTime*3/4 {
		t.Errorf("answered after %v", took)
	}
	close(free)
	<-done
	if n := s.hub.Listeners(roomTopic(room)); n != 1 {
		t.Errorf("%d listen to a room that she is in", n)
	}
}
