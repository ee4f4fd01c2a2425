package web

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// TestJoinAndLeave joins and leaves a room. All sockets of the user must enter together, receive the room's next
// entries, and leave together.
func TestJoinAndLeave(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	bob := s.signIn(t, "bob", 0)
	s.signIn(t, "ann", 0)
	room := s.room(t, bob, "hall").ID
	s.say(t, bob, room, "before")

	first, _ := connected(t, addr, wire.JSON, "ann")
	second, _ := connected(t, addr, wire.Protobuf, "ann")
	both := []*rawClient{first, second}
	rpc[wire.JoinReply](first, 2, "join", wire.JoinRequest{Room: room})
	// The push may come before the reply. So the test checks it on the other socket, and by the later entries on this
	// one.
	p := second.push(func(p *protocol.Push) bool { return p.Subscribe != nil })
	var joined wire.Joined
	noError(t, json.Unmarshal(p.Subscribe.Data, &joined))
	if p.Channel != "room:"+room || !p.Subscribe.Recoverable || !p.Subscribe.Positioned || p.Subscribe.Epoch == "" || p.Subscribe.Offset != 1 ||
		joined.Room.ID != room || joined.Room.Role != "member" || joined.Room.Members != 2 {
		t.Errorf("subscribe push %v, %+v", p, joined)
	}
	s.say(t, bob, room, "hello")
	for _, c := range both {
		p := c.push(func(p *protocol.Push) bool { return p.Pub != nil })
		if p.Channel != "room:"+room || p.Pub.Offset != 2 {
			t.Errorf("publication %v", p)
		}
	}

	rpc[wire.JoinReply](second, 3, "join", wire.JoinRequest{Room: room}) // a second join changes nothing
	second.send(`{"id":4,"rpc":{"method":"leave","data":{"room":"` + room + `"}}}`)
	for _, c := range both {
		left := c.push(func(p *protocol.Push) bool { return p.Message != nil && messageOf(t, p).Left != nil })
		if got := messageOf(t, left).Left; got.Room != room || got.Reason != "left" {
			t.Errorf("left: %+v", got)
		}
		p := c.push(func(p *protocol.Push) bool { return p.Unsubscribe != nil })
		if p.Channel != "room:"+room || p.Unsubscribe.Code != 2000 || p.Unsubscribe.Reason != "left" {
			t.Errorf("unsubscribe push %v", p)
		}
	}
	s.say(t, bob, room, "not for her")
	// After ann has returned, her client receives the room's entries from the present seq on.
	rpc[wire.JoinReply](first, 5, "join", wire.JoinRequest{Room: room})
	p = second.push(func(p *protocol.Push) bool { return p.Subscribe != nil || p.Pub != nil })
	if p.Subscribe == nil || p.Subscribe.Offset != 3 {
		t.Errorf("after coming back: %v", p)
	}
}

// TestPushesWhileConnecting causes pushes while a client connects. They must come after the connect reply. A room that
// the user leaves after the list of rooms was read must be left in the end.
func TestPushesWhileConnecting(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	bob := s.signIn(t, "bob", 0)
	stays, goes := s.room(t, bob, "stays").ID, s.room(t, bob, "goes").ID
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		user := "ann-" + t.Name()[len("TestPushesWhileConnecting/"):]
		ann := s.signIn(t, user, 0)
		call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: stays})
		call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: goes})
		c := dial(t, addr, e)
		s.store.whenListed(user, func() {
			s.admin(t, "credit", wire.AdjustRequest{User: user, Amount: 5, Key: "while-connecting-" + user})
			call[wire.LeaveReply](t, s, ann, "leave", wire.LeaveRequest{Room: goes})
		})
		c.send(`{"id":1,"connect":{"token":"` + goodToken(t, user) + `"}}`)

		r := c.next()
		if r.Connect == nil || len(r.Connect.Subs) != 2 {
			t.Fatalf("first came %v", r)
		}
		if p := c.next().Push; p == nil || p.Message == nil || messageOf(t, p).Wallet == nil {
			t.Errorf("then %v, want what was held back", p)
		}
		if p := c.next().Push; p == nil || p.Message == nil || messageOf(t, p).Left == nil {
			t.Errorf("then %v, want left", p)
		}
		if p := c.next().Push; p == nil || p.Unsubscribe == nil || p.Channel != "room:"+goes {
			t.Errorf("then %v, want unsubscribe", p)
		}
		s.say(t, bob, goes, "not for her")
		s.say(t, bob, stays, "for her")
		if p := c.push(func(p *protocol.Push) bool { return p.Pub != nil }); p.Channel != "room:"+stays {
			t.Errorf("a publication of the room that was left: %v", p)
		}
	})
}

// TestToldCrosswise delivers the signals of two concurrent changes in the wrong order. The user's actual standing must
// decide, not the last signal.
func TestToldCrosswise(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		addr := s.listen(t)
		bob := s.signIn(t, "bob", 0)
		room := s.room(t, bob, "hall").ID
		pub := push.NewPublisher(s.hub, chat.NewID(time.Now()))
		bothEncodings(t, func(t *testing.T, e wire.Encoding) {
			ann := s.signIn(t, "ann-"+fmt.Sprint(e), 0)
			c, _ := connected(t, addr, e, ann.User.ID)
			call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room})
			m, err := s.chat.Join(t.Context(), ann.User, room)
			noError(t, err)
			pub.ToUser(ann.User.ID, chat.Exited{Room: room, Reason: "left"}) // as if from an earlier leave
			said := s.say(t, bob, room, "for her")
			p := c.push(func(p *protocol.Push) bool { return p.Pub != nil || p.Unsubscribe != nil })
			if p.Pub == nil || p.Pub.Offset != uint64(said.Seq) {
				t.Fatalf("a member got %v", p)
			}

			call[wire.LeaveReply](t, s, ann, "leave", wire.LeaveRequest{Room: room})
			c.push(func(p *protocol.Push) bool { return p.Unsubscribe != nil })
			pub.ToUser(ann.User.ID, chat.Entered{Membership: m}) // as if from an earlier join
			s.say(t, bob, room, "not for her")
			pub.ToUser(ann.User.ID, chat.ReadMoved{Room: "last", User: ann.User.ID})
			if p := c.push(func(*protocol.Push) bool { return true }); p.Message == nil || messageOf(t, p).Read == nil {
				t.Errorf("a user that has left got %v", p)
			}
		})
	})
}

// TestComingAndGoingAtOnce runs many joins and leaves of a user concurrently. In the end, all sockets of the user must
// be in exactly the user's rooms.
func TestComingAndGoingAtOnce(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	room := s.room(t, s.signIn(t, "bob", 0), "hall").ID
	ann := s.signIn(t, "ann", 0)
	call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room}) // so that ann can leave it
	const sockets = 3
	for range sockets {
		connected(t, addr, wire.JSON, "ann")
	}
	for range 50 {
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room}) })
			all.Go(func() { call[wire.LeaveReply](t, s, ann, "leave", wire.LeaveRequest{Room: room}) })
		}
		all.Wait()
		standing, err := s.chat.Standing(t.Context(), room, "ann")
		noError(t, err)
		want := 0
		if standing.In {
			want = sockets
		}
		s.eventually(t, fmt.Sprintf("%d sockets that listen, because the user is in: %t", want, standing.In), func() bool {
			return s.hub.Listeners(push.RoomTopic(room)) == want
		})
	}
}

// TestUnsequenced causes each push without a seq. It must reach the users it is meant for.
func TestUnsequenced(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		addr := s.listen(t)
		ann := s.signIn(t, "ann", 1000)
		room := s.room(t, ann, "hall").ID
		bothEncodings(t, func(t *testing.T, e wire.Encoding) {
			mine, _ := connected(t, addr, e, "ann")
			user := fmt.Sprint("bob-", e)
			bob := s.signIn(t, user, 0)
			his, _ := connected(t, addr, e, user)
			call[wire.JoinReply](t, s, bob, "join", wire.JoinRequest{Room: room})
			is := func(wanted func(wire.Message) bool) func(*protocol.Push) bool {
				return func(p *protocol.Push) bool { return p.Message != nil && wanted(messageOf(t, p)) }
			}
			mine.push(is(func(m wire.Message) bool { return m.Members != nil && m.Members.Room == room && m.Members.Count >= 2 }))

			said := s.say(t, ann, room, "x")
			call[wire.ReadReply](t, s, bob, "read", wire.ReadRequest{Room: room, Seq: said.Seq})
			his.push(is(func(m wire.Message) bool {
				return m.Read != nil && *m.Read == wire.ReadPush{Room: room, User: user, Seq: said.Seq}
			}))

			sent := call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: user, Total: 100, Count: new(2)})
			mine.push(is(func(m wire.Message) bool {
				return m.Wallet != nil && m.Wallet.Change == -100 && m.Wallet.Kind == "send" && m.Wallet.Packet == sent.Packet.ID &&
					m.Wallet.Balance == sent.Balance && m.Wallet.NextCommitment == sent.NextCommitment
			}))
			won := call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: sent.Packet.ID})
			mine.push(is(func(m wire.Message) bool {
				p := m.PacketProgress
				return p != nil && p.Packet == sent.Packet.ID && p.Room == room && p.Claimed == 1 && p.Count == 2 && len(p.Latest) == 1 && p.Latest[0] == user
			}))
			his.push(is(func(m wire.Message) bool {
				return m.Wallet != nil && m.Wallet.Change == won.Amount && m.Wallet.Kind == "claim" && m.Wallet.Balance == won.Amount
			}))
		})
	})
}

func messageOf(t *testing.T, p *protocol.Push) (m wire.Message) {
	t.Helper()
	noError(t, json.Unmarshal(p.Message.Data, &m))
	return m
}
