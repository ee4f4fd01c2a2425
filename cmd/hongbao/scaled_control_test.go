package main

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledControl has things happen on one server that matter to sockets of others: they hear within one hop.
func TestScaledControl(t *testing.T) {
	i := install(t, build(t, ""), storetest.Redis(t), storetest.Database(t), three()...)
	for _, n := range i.nodes {
		n.says("bus is up", 1)
	}
	for name, what := range map[string]func(t *testing.T, i *installation){
		"sockets of a user":  socketsOfAUser,
		"joining, leaving":   joiningAndLeaving,
		"what is remembered": standingIsForgotten,
		"money":              moneyIsTold,
	} {
		t.Run(name, func(t *testing.T) { what(t, i) })
	}
	i.place().mustBalance()
}

// socketsOfAUser opens more sockets than a user may have on all servers together: the oldest go.
func socketsOfAUser(t *testing.T, i *installation) {
	redis := redisOf(t, i.redis)
	who := i.place().guest("many")
	known := func(want int64) {
		t.Helper()
		eventually(t, 10*time.Second, fmt.Sprint(want, " sockets are known"), func() bool {
			return redis.HLen(t.Context(), "on:"+who.User.ID).Val() == want
		})
	}
	var ears []*ear
	for n := range 10 {
		ears = append(ears, hear(t, i.nodes[n%2], who))
		known(int64(n + 1)) // so that they are of different ages to everybody
	}
	for n := range 3 {
		began := time.Now()
		ears = append(ears, hear(t, i.nodes[2-n], who))
		ears[n].awaitsSoon("over 3504", began)
		known(10)
	}
	for n, e := range ears {
		if open := e.State() == centrifuge.StateConnected; open != (n >= 3) {
			t.Errorf("socket %d, of %s, open: %v", n, e.name, open)
		}
	}
}

// joiningAndLeaving has a person with a socket on each server go into a room and out of it.
func joiningAndLeaving(t *testing.T, i *installation) {
	host := connect(t, i.nodes[0], i.nodes[0].guest("host"), false)
	room := must[wire.CreateRoomReply](host, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room"}).Room.ID
	who := i.place().guest("mover")
	var ears []*ear
	for _, n := range i.nodes {
		ears = append(ears, hear(t, n, who))
	}
	awaitsSubscribers(t, i, who.User.ID, 3)
	soon := func(what string, began time.Time) {
		t.Helper()
		for _, e := range ears {
			e.awaitsSoon(what, began)
		}
	}
	says := func(key string) time.Time {
		began := time.Now()
		must[wire.SendReply](host, "send", wire.SendRequest{Room: room, Key: key, Text: key})
		return began
	}

	began := time.Now()
	tell(t, ears[0], "join", wire.JoinRequest{Room: room})
	soon("in "+room, began)
	awaitsSubscribers(t, i, room, 3)
	soon("inside", says("inside"))
	packet := must[wire.SendPacketReply](host, "send_packet", wire.SendPacketRequest{Room: room, Key: "packet", Total: 10, Count: new(2)}).Packet.ID
	for _, e := range ears { // now each server knows how he stands to the room
		tell(t, e, "history", wire.HistoryRequest{Room: room})
	}

	began = time.Now()
	tell(t, ears[1], "leave", wire.LeaveRequest{Room: room})
	soon("left "+room+" left", began)
	soon("out "+room, began)
	for _, e := range ears {
		_, err := e.RPC(t.Context(), "grab", []byte(jsonText(wire.GrabRequest{Packet: packet})))
		var refused *centrifuge.Error
		if !errors.As(err, &refused) || refused.Code != uint32(wire.CodeNotMember) {
			t.Errorf("%s: who has left grabs, and is answered: %v", e.name, err)
		}
	}
	says("outside")

	began = time.Now()
	tell(t, ears[2], "join", wire.JoinRequest{Room: room})
	for _, e := range ears {
		eventually(t, 10*time.Second, e.name+" is in again", func() bool { return len(e.times("in "+room)) == 2 })
		mustTake(t, "to be in again", e.times("in " + room)[1].Sub(began), oneHop)
	}
	awaitsSubscribers(t, i, room, 3)
	soon("inside-again", says("inside-again"))
	for _, e := range ears {
		if len(e.times("outside")) != 0 {
			t.Errorf("%s heard what was said while he was not in the room", e.name)
		}
	}
}

// standingIsForgotten has a person leave a room: a server where he has no socket, but which remembers that he was in it,
// hears that, too.
func standingIsForgotten(t *testing.T, i *installation) {
	host := connect(t, i.nodes[0], i.nodes[0].guest("host"), false)
	room := must[wire.CreateRoomReply](host, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room"}).Room.ID
	who := i.place().guest("visitor")
	here, there := hear(t, i.nodes[1], who), i.nodes[2]
	for range 2 {
		tell(t, here, "join", wire.JoinRequest{Room: room})
		mayRead := func() bool {
			status, _, err := there.post(who.Token, "commands/history", wire.HistoryRequest{Room: room})
			check(t, err)
			return status == http.StatusOK
		}
		began := time.Now()
		eventually(t, 10*time.Second, "he may read there", mayRead)
		mustTake(t, "to be let in", time.Since(began), oneHop)

		began = time.Now()
		tell(t, here, "leave", wire.LeaveRequest{Room: room})
		eventually(t, 10*time.Second, "he may not read there any more", func() bool { return !mayRead() })
		t.Logf("to be forgotten took %v", time.Since(began).Round(time.Millisecond))
		mustTake(t, "to be forgotten", time.Since(began), oneHop)
	}
}

// moneyIsTold has money move by commands on one server: its owner hears on the others.
func moneyIsTold(t *testing.T, i *installation) {
	from, to := i.place().guest("from"), i.place().guest("to")
	sender, grabber := connect(t, i.nodes[0], from, false), connect(t, i.nodes[1], to, false)
	senders, grabbers := hear(t, i.nodes[2], from), hear(t, i.nodes[2], to)
	awaitsSubscribers(t, i, from.User.ID, 2)
	awaitsSubscribers(t, i, to.User.ID, 2)
	room := must[wire.CreateRoomReply](sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room"}).Room.ID
	must[wire.JoinReply](grabber, "join", wire.JoinRequest{Room: room})
	send := func(key string, total int64) string {
		t.Helper()
		ttl := int64(5)
		began := time.Now()
		reply := must[wire.SendPacketReply](sender, "send_packet",
			wire.SendPacketRequest{Room: room, Key: key, Mode: "equal", Total: total, Count: new(2), TTLS: &ttl})
		senders.awaitsSoon(fmt.Sprint("wallet send ", -total), began)
		return reply.Packet.ID
	}

	packet := send("grabbed", 200)
	began := time.Now()
	must[wire.GrabReply](grabber, "grab", wire.GrabRequest{Packet: packet})
	grabbers.awaitsSoon("wallet claim 100", began)

	cancelled := send("cancelled", 30)
	began = time.Now()
	must[wire.CancelPacketReply](sender, "cancel_packet", wire.CancelPacketRequest{Packet: cancelled})
	senders.awaitsSoon("wallet refund 30", began)

	book := must[wire.PacketReply](sender, "packet", wire.PacketRequest{Packet: packet})
	end := time.UnixMilli(book.Packet.ExpiresAt)
	took := senders.awaits("wallet refund 100").Sub(end)
	t.Logf("a refund is heard %v after the deadline", took.Round(time.Millisecond))
	mustTake(t, "a refund", took, 2*time.Second)
	if n := len(senders.times("wallet refund 100")); n != 1 {
		t.Errorf("the refund is told %d times", n)
	}
}

// awaitsSubscribers waits until so many servers listen to a user or a room: it takes them a moment to say so to Redis.
// What they miss until then they would learn a second later.
func awaitsSubscribers(t *testing.T, i *installation, id string, servers int64) {
	t.Helper()
	redis := redisOf(t, i.redis)
	eventually(t, 10*time.Second, fmt.Sprint(servers, " servers listen"), func() bool {
		channels := redis.PubSubChannels(t.Context(), "*"+id).Val()
		return len(channels) == 1 && redis.PubSubNumSub(t.Context(), channels[0]).Val()[channels[0]] == servers
	})
}

// tell sends a command that must succeed.
func tell(t *testing.T, e *ear, method string, request any) {
	t.Helper()
	if _, err := e.RPC(t.Context(), method, []byte(jsonText(request))); err != nil {
		t.Fatalf("%s: %s: %v", e.name, method, err)
	}
}
