package web

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/user/api"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// message returns the next push without a seq that satisfies wanted.
func (c *rawClient) message(wanted func(wire.Message) bool) wire.Message {
	c.t.Helper()
	return messageOf(c.t, c.push(func(p *protocol.Push) bool { return p.Message != nil && wanted(messageOf(c.t, p)) }))
}

// TestWhatMembersDo checks on two instances that a room receives which members come online and go offline, which type,
// and how far each has read.
func TestWhatMembersDo(t *testing.T) {
	t.Parallel()
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		inBubble(t, func(t *testing.T) {
			a, b := twoInstances(t)
			ann, bob := a.signIn(t, "ann", 0), a.signIn(t, "bob", 0)
			room := a.room(t, ann, "hall").ID
			call[wire.JoinReply](t, a, bob, "join", wire.JoinRequest{Room: room})
			said := a.say(t, ann, room, "hello")
			hers, _ := connected(t, a.listen(t), e, "ann")
			hers.sees = true

			his, _ := connected(t, b.listen(t), e, "bob")
			isBob := func(online bool) func(wire.Message) bool {
				return func(m wire.Message) bool {
					return m.Presence != nil && *m.Presence == wire.PresencePush{Room: room, User: "bob", Online: online}
				}
			}
			hers.message(isBob(true))
			a.eventually(t, "both are online", func() bool {
				online, err := a.chat.MembersOnline(t.Context(), []string{"ann", "bob"})
				return err == nil && online[0] && online[1]
			})
			for _, s := range []*testServer{a, b} {
				got := call[wire.PresenceReply](t, s, ann, "presence", wire.PresenceRequest{Room: room})
				if got.Online != 2 || got.Users == nil || !slices.Equal(*got.Users, []string{"ann", "bob"}) {
					t.Errorf("presence %+v", got)
				}
				for _, m := range call[wire.MembersReply](t, s, ann, "members", wire.MembersRequest{Room: room}).Members {
					if !m.Online {
						t.Errorf("%s is not online", m.User.ID)
					}
				}
			}

			for _, nonsense := range []string{`{}`, `null`, `{"typing":{}}`, `{"typing":{"room":"no such room"}}`, `{"typing":"x"}`, `[1]`} {
				his.send(`{"send":{"data":` + nonsense + `}}`)
			}
			his.send(`{"send":{"data":{"typing":{"room":"` + room + `"}}}}`)
			for _, c := range []*rawClient{hers, his} {
				c.message(func(m wire.Message) bool {
					return m.Typing != nil && *m.Typing == wire.TypingPush{Room: room, User: "bob"}
				})
			}

			rpc[wire.ReadReply](his, 2, "read", wire.ReadRequest{Room: room, Seq: said.Seq})
			hers.message(func(m wire.Message) bool {
				return m.Read != nil && *m.Read == wire.ReadPush{Room: room, User: "bob", Seq: said.Seq}
			})

			_ = his.ws.Close()
			hers.message(isBob(false))
			if got := call[wire.PresenceReply](t, a, ann, "presence", wire.PresenceRequest{Room: room}); got.Online != 1 {
				t.Errorf("presence %+v", got)
			}
		})
	})
}

// brokenPresence is a presence directory whose methods fail.
type brokenPresence struct{ chat.Presence }

func (brokenPresence) Online(context.Context, []string) ([]bool, error) {
	return nil, chat.ErrUnavailable
}

// TestMembersWithoutPresence has a presence directory that cannot be read. Members with a socket on this instance must
// be listed as online, and the command presence must fail.
func TestMembersWithoutPresence(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann, bob, room := s.twoInARoom(t)
	_, _ = connected(t, s.listen(t), wire.JSON, bob.User.ID)
	s.commands = api.New(api.Config{
		Chat: chat.New(s.store, s.pub, chat.Options{Presence: brokenPresence{}}), Packets: s.packets, Rates: s.rates,
		Connected: func(user string) bool { return s.hub.Listeners(push.UserTopic(user)) > 0 },
	})
	members := call[wire.MembersReply](t, s, ann, "members", wire.MembersRequest{Room: room}).Members
	if len(members) != 2 || members[0].Online || !members[1].Online {
		t.Errorf("members %+v", members)
	}
	if got := s.refused(t, ann, "presence", encoded(t, wire.PresenceRequest{Room: room})); got.Code != wire.CodeUnavailable {
		t.Errorf("presence: %+v", got)
	}
}

// TestInvitedWhileItIsBusy invites a user while many messages are sent to the room, on either instance. The subscribe
// push must come before the first entry, and no entry after it may be missing.
func TestInvitedWhileItIsBusy(t *testing.T) {
	t.Parallel()
	a, b := twoInstances(t)
	ann := a.signIn(t, "ann", 0)
	addrs := []string{a.listen(t), b.listen(t)}
	room := a.room(t, ann, "hall").ID
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		for i, addr := range addrs {
			user := fmt.Sprint(e, []string{"-here", "-there"}[i])
			c, _ := connected(t, addr, e, user)
			stop := make(chan struct{})
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
						a.say(t, ann, room, "busy")
					}
				}
			}()
			call[wire.InviteReply](t, a, ann, "invite", wire.InviteRequest{Room: room, Users: []string{user}})
			p := c.push(func(p *protocol.Push) bool { return isSubscribe(p) || isPub(p) })
			if p.Subscribe == nil {
				t.Fatalf("first came %v", p)
			}
			first := int64(p.Subscribe.Offset) + 1
			c.entries(room, first, first+20)
			close(stop)
			<-ended
			_ = c.ws.Close()
		}
	})
}
