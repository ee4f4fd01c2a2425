package web

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// slowStore blocks reads of standings until the test releases them, and counts how many wait concurrently.
type slowStore struct {
	chat.Store
	free         chan struct{} // nil: reads do not block
	waiting, top atomic.Int32
}

func (s *slowStore) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	s.top.Store(max(s.top.Load(), s.waiting.Add(1)))
	defer s.waiting.Add(-1)
	if s.free != nil {
		<-s.free
	}
	return s.Store.Standing(ctx, room, user)
}

// noPublisher discards everything, so that changes through its services reach no session.
type noPublisher struct{}

func (noPublisher) Entry(chat.Entry)               {}
func (noPublisher) ToRoom(string, chat.Event)      {}
func (noPublisher) ToUser(string, chat.Event)      {}
func (noPublisher) StandingChanged(string, string) {}

// silentChat returns a chat service on the server's store whose changes reach no session.
func (s *testServer) silentChat() *chat.Service {
	return chat.New(s.store, noPublisher{}, chat.Options{})
}

// TestSignalsWaitInOrder sends many signals over the bus while the store is slow. Neither the bus nor the session's
// reader may block. The signals must be applied in order.
func TestSignalsWaitInOrder(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		engines := newTestEngines(t)
		slow := &slowStore{Store: engines.store.Store}
		engines.store.Store = slow
		s := engines.open(t, withStandingTime, func(o *Options) { o.Alone = true })
		bob, ann := s.signIn(t, "bob", 0), s.signIn(t, "ann", 0)
		c, _ := connected(t, s.listen(t), wire.JSON, "ann")
		var signals []push.Signal
		for i := range 5 {
			m, err := s.silentChat().Join(t.Context(), ann.User, s.room(t, bob, fmt.Sprint(i)).ID)
			noError(t, err)
			signals = append(signals, push.EnteredSignal(m))
		}
		slow.free = make(chan struct{})
		slow.top.Store(0)
		began := time.Now()
		for _, sig := range signals {
			sig.By = "another instance"
			s.sessionOf("ann").Signal("", sig.Encode())
		}
		rpc[wire.WalletReply](c, 2, "wallet", wire.WalletRequest{})
		if took := time.Since(began); took > standingTime*3/4 {
			t.Errorf("answered after %v: something waited for the store", took)
		}
		close(slow.free)
		for _, sig := range signals {
			if p := c.push(isSubscribe); p.Channel != push.RoomTopic(sig.Room) {
				t.Errorf("subscribed to %s, want %s", p.Channel, push.RoomTopic(sig.Room))
			}
		}
		if n := slow.top.Load(); n != 1 {
			t.Errorf("%d signals were applied at once, want one after the other", n)
		}
	})
}

// TestEnteredBehindAnother has the user enter a room while another signal is being applied. The room must be entered
// before any of its entries arrives.
func TestEnteredBehindAnother(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		bob, ann := s.signIn(t, "bob", 0), s.signIn(t, "ann", 0)
		room, other := s.room(t, bob, "hall").ID, s.room(t, bob, "other").ID
		addr := s.listen(t)
		c, _ := connected(t, addr, wire.JSON, "ann")
		his, _ := connected(t, addr, wire.JSON, "bob")
		s.say(t, bob, room, "before") // caches bob as a member
		free := make(chan struct{})
		s.store.holdStanding(free)
		s.sessionOf("ann").Signal("", push.Signal{By: "another instance", Room: other}.Encode())
		call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room})
		s.say(t, bob, room, "at once")
		his.entries(room, 1, 2)
		close(free)
		isHere := func(p *protocol.Push) bool { return p.Channel == push.RoomTopic(room) && (isSubscribe(p) || isPub(p)) }
		p := c.push(isHere)
		if p.Subscribe == nil || p.Subscribe.Offset != 2 {
			t.Fatalf("first came %v", p)
		}
		s.say(t, bob, room, "then")
		if p := c.push(isHere); p.Pub == nil || p.Pub.Offset != 3 {
			t.Errorf("then came %v", p)
		}
	})
}

// TestSignalsOfThisInstanceAreAppliedAtOnce runs commands that send signals. The signal must be applied on this
// instance when the command is answered.
func TestSignalsOfThisInstanceAreAppliedAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		bob, ann := s.signIn(t, "bob", 0), s.signIn(t, "ann", 0)
		room := s.room(t, bob, "hall").ID
		connected(t, s.listen(t), wire.JSON, "ann")
		synctest.Wait() // the session is open a moment after its client has the reply of connect
		began := time.Now()
		want := func(what string, listen int) {
			t.Helper()
			listening := func() bool { return s.hub.Listeners(push.RoomTopic(room)) == listen }
			if time.Since(began) >= time.Second { // by design, a store that is slow for a second has signals applied later
				s.eventually(t, what, listening)
			} else if !listening() {
				t.Fatalf("%s after %v, and %d listen, want %d", what, time.Since(began), s.hub.Listeners(push.RoomTopic(room)), listen)
			}
		}
		for range 20 {
			call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room})
			want("joined", 1)
			call[wire.LeaveReply](t, s, ann, "leave", wire.LeaveRequest{Room: room})
			want("left", 0)
		}
	})
}

// TestSlowStoreHoldsUpAnInvitationOnce invites connected users while the store does not answer reads of standings. The command must not
// wait for each of them. All must be in the room when the store answers again.
func TestSlowStoreHoldsUpAnInvitationOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		bob := s.signIn(t, "bob", 0)
		room, addr := s.room(t, bob, "hall").ID, s.listen(t)
		var users []string
		for i := range 10 {
			user := fmt.Sprint("user", i)
			connected(t, addr, wire.JSON, user)
			users = append(users, user)
		}
		free := make(chan struct{})
		s.store.holdStanding(free)
		began := time.Now()
		call[wire.InviteReply](t, s, bob, "invite", wire.InviteRequest{Room: room, Users: users})
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("the invitation took %v: it has waited for each user", took)
		}
		close(free)
		s.eventually(t, "all are in the room", func() bool { return s.hub.Listeners(push.RoomTopic(room)) == len(users) })
	})
}

// TestRecheckHoldsUpNothing has a recheck wait for the store. Commands of the session must not wait. The recheck must
// apply the standing that the store returns in the end.
func TestRecheckHoldsUpNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		engines := newTestEngines(t)
		slow := &slowStore{Store: engines.store.Store}
		engines.store.Store = slow
		s := engines.open(t, withStandingTime, func(o *Options) { o.Alone = true })
		bob, ann := s.signIn(t, "bob", 0), s.signIn(t, "ann", 0)
		room := s.room(t, bob, "hall").ID
		call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room})
		c, _ := connected(t, s.listen(t), wire.JSON, "ann")
		noError(t, s.silentChat().Leave(t.Context(), ann.User, room))
		slow.free = make(chan struct{})
		s.sessions.BusLost(false) // queues all users for a recheck
		s.eventually(t, "the recheck", func() bool { return slow.waiting.Load() > 0 })
		began := time.Now()
		rpc[wire.WalletReply](c, 2, "wallet", wire.WalletRequest{})
		if took := time.Since(began); took > standingTime*3/4 {
			t.Errorf("answered after %v: the command waited for the recheck", took)
		}
		if n := s.hub.Listeners(push.RoomTopic(room)); n != 1 {
			t.Errorf("%d connections are in the room before the recheck has ended, want 1", n)
		}
		close(slow.free)
		c.push(isUnsubscribe)
		if n := s.hub.Listeners(push.RoomTopic(room)); n != 0 {
			t.Errorf("%d connections are in a room that their user has left", n)
		}
	})
}
