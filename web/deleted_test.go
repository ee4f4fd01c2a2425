package web

import (
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// TestDeletedEverywhere deletes a room. All sockets on every instance must leave it at once, without a read of the
// store, even if the notices between the instances arrive later.
func TestDeletedEverywhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b, bus := twoInstancesFilteredBus(t, withStandingTime)
		ann := a.signIn(t, "ann", 0)
		addrs := map[string]*testServer{a.listen(t): a, b.listen(t): b}
		room := a.room(t, ann, "hall").ID
		var clients []*rawClient
		for addr, s := range addrs {
			for i, e := range []wire.Encoding{wire.JSON, wire.Protobuf} {
				user := s.signIn(t, fmt.Sprintf("%s-%d", s.pub.Node(), i), 0)
				c, _ := connected(t, addr, e, user.User.ID)
				call[wire.JoinReply](t, s, user, "join", wire.JoinRequest{Room: room})
				c.push(isSubscribe)
				clients = append(clients, c)
			}
		}
		bus.pick(nil, func(topic string, _ []byte) bool { return topic == "!notices" })
		free := make(chan struct{})
		defer close(free)
		a.store.holdStanding(free)
		began := time.Now()
		call[wire.DeleteRoomReply](t, a, ann, "delete_room", wire.DeleteRoomRequest{Room: room})
		for _, c := range clients {
			for {
				p := c.next().Push
				if p != nil && p.Message != nil && messageOf(t, p).Left != nil {
					if got := *messageOf(t, p).Left; got != (wire.LeftPush{Room: room, Reason: "deleted"}) {
						t.Errorf("left %+v", got)
					}
					break
				}
			}
			if p := c.next().Push; p == nil || p.Unsubscribe == nil || p.Unsubscribe.Reason != "deleted" {
				t.Errorf("then %v", p)
			}
		}
		if took := time.Since(began); took > standingTime*3/4 {
			t.Errorf("all were out after %v: the store was asked", took)
		}
		for _, s := range addrs {
			if n := s.hub.Listeners(push.RoomTopic(room)); n != 0 {
				t.Errorf("%d still listen", n)
			}
			if err := func() error { _, _, err := s.chat.History(t.Context(), "ann", room, chat.Page{}); return err }(); s.errors.Failure(err).Code != wire.CodeNotFound {
				t.Errorf("history: %v", err)
			}
		}
	})
}
