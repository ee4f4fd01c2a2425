package scaled

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledControl changes users, memberships and balances on one server: sockets at the other servers learn of it within one hop.
func TestScaledControl(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	c := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), storetest.Database(t), e2e.Three()...)
	for _, s := range c.Servers {
		s.AwaitLog("bus is up", 1)
	}
	for name, test := range map[string]func(t *testing.T, c *e2e.Cluster){
		"the oldest sockets of a user are closed":     oldestSocketsAreClosed,
		"a user joins and leaves with all sockets":    allSocketsJoinAndLeave,
		"cached membership is dropped on all servers": membershipIsDropped,
		"balances are pushed":                         balancesArePushed,
	} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
	c.Front().MustBalance()
}

// oldestSocketsAreClosed opens more sockets than a user may have on all servers together.
func oldestSocketsAreClosed(t *testing.T, c *e2e.Cluster) {
	redis := e2e.RedisClient(t, c.Redis)
	guest := c.Front().Guest("many sockets")
	awaitRegistered := func(want int64) {
		t.Helper()
		e2e.Eventually(t, 10*time.Second, fmt.Sprint(want, " sockets of the user are registered in Redis"), func() bool {
			return redis.HLen(t.Context(), "on:"+guest.User.ID).Val() == want
		})
	}
	var listeners []*listener
	for n := range 10 {
		listeners = append(listeners, listen(t, c.Servers[n%2], guest))
		awaitRegistered(int64(n + 1)) // one by one, so that all servers agree on their order
	}
	for n := range 3 {
		began := time.Now()
		listeners = append(listeners, listen(t, c.Servers[2-n], guest))
		listeners[n].awaitWithinOneHop("disconnected 3504", began)
		awaitRegistered(10)
	}
	for n, l := range listeners {
		if open := l.State() == centrifuge.StateConnected; open != (n >= 3) {
			t.Errorf("socket %d, %s: connected %v, want %v", n, l.name, open, n >= 3)
		}
	}
}

// allSocketsJoinAndLeave has a user with a socket on each server join a room, leave it, and join again.
func allSocketsJoinAndLeave(t *testing.T, c *e2e.Cluster) {
	owner := e2e.Connect(t, c.Servers[0], c.Servers[0].Guest("owner"), false)
	room := e2e.Call[wire.CreateRoomReply](owner, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	guest := c.Front().Guest("joins and leaves")
	var listeners []*listener
	for _, s := range c.Servers {
		listeners = append(listeners, listen(t, s, guest))
	}
	awaitSubscribers(t, c, guest.User.ID, 3)
	allAwait := func(event string, began time.Time) {
		t.Helper()
		for _, l := range listeners {
			l.awaitWithinOneHop(event, began)
		}
	}
	say := func(key string) time.Time {
		began := time.Now()
		e2e.Call[wire.SendReply](owner, "send", wire.SendRequest{Room: room, Key: key, Text: key})
		return began
	}

	began := time.Now()
	listeners[0].call("join", wire.JoinRequest{Room: room})
	allAwait("subscribed "+room, began)
	awaitSubscribers(t, c, room, 3)
	allAwait("while-member", say("while-member"))
	packet := e2e.Call[wire.SendPacketReply](owner, "send_packet", wire.SendPacketRequest{Room: room, Key: "packet", Total: 10, Count: new(2)}).Packet.ID
	for _, l := range listeners { // now each server has the user's membership in its cache
		l.call("history", wire.HistoryRequest{Room: room})
	}

	began = time.Now()
	listeners[1].call("leave", wire.LeaveRequest{Room: room})
	allAwait("left "+room+" left", began)
	allAwait("unsubscribed "+room, began)
	for _, l := range listeners {
		_, err := l.RPC(t.Context(), "grab", []byte(e2e.JSON(wire.GrabRequest{Packet: packet})))
		var refused *centrifuge.Error
		if !errors.As(err, &refused) || refused.Code != uint32(wire.CodeNotMember) {
			t.Errorf("%s: a grab after leaving the room: error %v, want %d not_member", l.name, err, wire.CodeNotMember)
		}
	}
	say("after-leaving")

	began = time.Now()
	listeners[2].call("join", wire.JoinRequest{Room: room})
	for _, l := range listeners {
		e2e.Eventually(t, 10*time.Second, l.name+" is subscribed again", func() bool { return len(l.times("subscribed "+room)) == 2 })
		e2e.MustTake(t, "subscribing again at "+l.name, l.times("subscribed " + room)[1].Sub(began), oneHop)
	}
	awaitSubscribers(t, c, room, 3)
	allAwait("member-again", say("member-again"))
	for _, l := range listeners {
		if len(l.times("after-leaving")) != 0 {
			t.Errorf("%s received a text that was sent while the user was not a member", l.name)
		}
	}
}

// membershipIsDropped lets a user leave a room. A server where the user has no socket may have the membership in its
// cache: it must learn of the change too.
func membershipIsDropped(t *testing.T, c *e2e.Cluster) {
	owner := e2e.Connect(t, c.Servers[0], c.Servers[0].Guest("owner"), false)
	room := e2e.Call[wire.CreateRoomReply](owner, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	guest := c.Front().Guest("member")
	here, there := listen(t, c.Servers[1], guest), c.Servers[2]
	for range 2 {
		here.call("join", wire.JoinRequest{Room: room})
		mayRead := func() bool {
			status, _, err := there.Post(guest.Token, "commands/history", wire.HistoryRequest{Room: room})
			e2e.NoError(t, err)
			return status == http.StatusOK
		}
		began := time.Now()
		e2e.Eventually(t, 10*time.Second, "the new member may read history at another server", mayRead)
		e2e.MustTake(t, "a join to count at another server", time.Since(began), oneHop)

		began = time.Now()
		here.call("leave", wire.LeaveRequest{Room: room})
		e2e.Eventually(t, 10*time.Second, "the former member may not read history at another server", func() bool { return !mayRead() })
		t.Logf("another server dropped the membership after %v", time.Since(began).Round(time.Millisecond))
		e2e.MustTake(t, "a leave to count at another server", time.Since(began), oneHop)
	}
}

// balancesArePushed moves money by commands on one server: sockets of the owner on other servers receive the new balance.
func balancesArePushed(t *testing.T, c *e2e.Cluster) {
	from, to := c.Front().Guest("from"), c.Front().Guest("to")
	sender, grabber := e2e.Connect(t, c.Servers[0], from, false), e2e.Connect(t, c.Servers[1], to, false)
	senderElsewhere, grabberElsewhere := listen(t, c.Servers[2], from), listen(t, c.Servers[2], to)
	awaitSubscribers(t, c, from.User.ID, 2)
	awaitSubscribers(t, c, to.User.ID, 2)
	room := e2e.Call[wire.CreateRoomReply](sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	e2e.Call[wire.JoinReply](grabber, "join", wire.JoinRequest{Room: room})
	send := func(key string, total int64) string {
		t.Helper()
		ttl := int64(5)
		began := time.Now()
		reply := e2e.Call[wire.SendPacketReply](sender, "send_packet",
			wire.SendPacketRequest{Room: room, Key: key, Mode: "equal", Total: total, Count: new(2), TTLS: &ttl})
		senderElsewhere.awaitWithinOneHop(fmt.Sprint("wallet send ", -total), began)
		return reply.Packet.ID
	}

	packet := send("grabbed", 200)
	began := time.Now()
	e2e.Call[wire.GrabReply](grabber, "grab", wire.GrabRequest{Packet: packet})
	grabberElsewhere.awaitWithinOneHop("wallet claim 100", began)

	cancelled := send("cancelled", 30)
	began = time.Now()
	e2e.Call[wire.CancelPacketReply](sender, "cancel_packet", wire.CancelPacketRequest{Packet: cancelled})
	senderElsewhere.awaitWithinOneHop("wallet refund 30", began)

	reply := e2e.Call[wire.PacketReply](sender, "packet", wire.PacketRequest{Packet: packet})
	deadline := time.UnixMilli(reply.Packet.ExpiresAt)
	took := senderElsewhere.await("wallet refund 100").Sub(deadline)
	t.Logf("the refund was pushed %v after the deadline", took.Round(time.Millisecond))
	e2e.MustTake(t, "the refund after the deadline", took, 2*time.Second)
	if n := len(senderElsewhere.times("wallet refund 100")); n != 1 {
		t.Errorf("the refund was pushed %d times, want once", n)
	}
}

// awaitSubscribers waits until this number of servers have subscribed to a user or a room in Redis. A server repairs
// what it missed before that only a second later.
func awaitSubscribers(t *testing.T, c *e2e.Cluster, id string, servers int64) {
	t.Helper()
	redis := e2e.RedisClient(t, c.Redis)
	e2e.Eventually(t, 10*time.Second, fmt.Sprint(servers, " servers are subscribed to ", id), func() bool {
		channels := redis.PubSubChannels(t.Context(), "*"+id).Val()
		return len(channels) == 1 && redis.PubSubNumSub(t.Context(), channels[0]).Val()[channels[0]] == servers
	})
}
