package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/store/loopback"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledRedisPaused freezes Redis for ten seconds, with all its connections open. Chat goes on, grabs say that they
// cannot be answered now, and everything is made up for.
func TestScaledRedisPaused(t *testing.T) {
	i := install(t, build(t, ""), storetest.Redis(t), storetest.Database(t), three()...)
	k := newTalk(t, i)
	packet := k.packet(len(k.speakers))
	end := k.begin(0, 1, 2)
	lasts(time.Second)

	paused := time.Now()
	i.redis.Pause()
	var meanwhile sync.WaitGroup
	for n, after := range []time.Duration{0, 1500 * time.Millisecond, 5 * time.Second} { // known to nobody, to some, to all
		meanwhile.Go(func() {
			lasts(after)
			refused(t, k.speakers[n], packet, 3*time.Second)
		})
	}
	lasts(500 * time.Millisecond)
	k.comesLate(i.nodes[1], "before it is known")
	lasts(4500 * time.Millisecond)
	k.comesLate(i.nodes[2], "when it is known")
	for _, n := range i.nodes {
		eventually(t, 10*time.Second, "it is not ready", func() bool { return n.ready(t) == http.StatusServiceUnavailable })
	}
	meanwhile.Wait()
	<-time.After(time.Until(paused.Add(10 * time.Second)))
	resumed := time.Now()
	i.redis.Resume()

	for _, c := range k.speakers {
		if reply := must[wire.GrabReply](c, "grab", wire.GrabRequest{Packet: packet}); reply.Amount != 100 {
			t.Errorf("%s: the same grab is told %+v", c.user.Name, reply)
		}
	}
	t.Logf("grabs succeed %v after Redis goes on", time.Since(resumed).Round(time.Millisecond))
	for _, n := range i.nodes {
		eventually(t, 10*time.Second, "it is ready again", func() bool { return n.ready(t) == http.StatusOK })
	}
	t.Logf("all are ready %v after Redis goes on", time.Since(resumed).Round(time.Millisecond))
	healed := time.Now()
	lasts(2 * time.Second)
	end()
	k.allHeard()

	known := paused.Add(3 * time.Second)
	own, others := k.slowest("until it is known", between{paused, known})
	mustTake(t, "the way to the own server's sockets", own, 300*time.Millisecond)
	mustTake(t, "the way to the others' sockets", others, 10*time.Second)
	own, others = k.slowest("while it is known", between{known, resumed})
	mustTake(t, "the way to the own server's sockets", own, 300*time.Millisecond)
	mustTake(t, "the way to the others' sockets", others, 2*time.Second)
	own, others = k.slowest("while it heals", between{resumed, healed})
	mustTake(t, "the way to the own server's sockets", own, 300*time.Millisecond)
	mustTake(t, "the way to the others' sockets", others, 2*time.Second)
	_, others = k.slowest("afterwards", between{healed, time.Now()})
	mustTake(t, "the way to the others' sockets", others, time.Second)
	for _, late := range k.ears[len(k.speakers):] {
		late.awaits(k.said[len(k.said)-1].key)
	}
	if claims := k.claims(packet); len(claims) != len(k.speakers) {
		t.Errorf("the packet has %d claims", len(claims))
	}
	i.place().mustBalance()
}

// packet sends one of 100 a share, whose end nobody waits for.
func (k *talk) packet(count int) (id string) {
	k.t.Helper()
	return must[wire.SendPacketReply](k.speakers[0], "send_packet", wire.SendPacketRequest{
		Room: k.room, Key: "packet", Mode: "equal", Total: int64(100 * count), Count: count,
	}).Packet.ID
}

func (k *talk) claims(packet string) []wire.Claim {
	k.t.Helper()
	return must[wire.PacketReply](k.speakers[0], "packet", wire.PacketRequest{Packet: packet}).Claims
}

// refused grabs, and wants to be told soon that this cannot be answered.
func refused(t *testing.T, c *client, packet string, within time.Duration) {
	began := time.Now()
	reply, err := ask[wire.GrabReply](context.Background(), c, "grab", wire.GrabRequest{Packet: packet})
	took := time.Since(began)
	t.Logf("%s: grab: %v after %v", c.user.Name, err, took.Round(time.Millisecond))
	var answer *centrifuge.Error
	if !errors.As(err, &answer) || answer.Code != uint32(wire.CodeUnavailable) || !answer.Temporary {
		t.Errorf("%s: grab: %+v, %v; want unavailable", c.user.Name, reply, err)
	}
	mustTake(t, "a refused grab", took, within)
}

// comesLate lets a new person in, whom nothing may hold up.
func (k *talk) comesLate(n *node, when string) {
	k.t.Helper()
	began := time.Now()
	k.listen(n, n.guest("late "+when))
	took := time.Since(began)
	k.t.Logf("%s a guest signs in, connects and joins in %v", when, took.Round(time.Millisecond))
	mustTake(k.t, "to come in", took, time.Second)
}

// ready asks the server whether it is.
func (n *node) ready(t *testing.T) (status int) {
	t.Helper()
	response, err := http.Get(n.ops + "readyz")
	if err != nil {
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode
}

// TestScaledHalfOpen cuts one server off from Redis without a sign: connections stay open and carry nothing. What is
// said reaches everyone all the same.
func TestScaledHalfOpen(t *testing.T) {
	redis := storetest.Redis(t)
	var proxies []*loopback.Proxy
	var each [][]string
	for range three() {
		p, err := loopback.StartProxy(redis.Addr())
		check(t, err)
		t.Cleanup(p.Close)
		proxies = append(proxies, p)
		each = append(each, []string{"HONGBAO_REDIS_URL=redis://" + p.Addr() + "/0"})
	}
	i := install(t, build(t, ""), redis, storetest.Database(t), each...)
	busy, alone := newTalk(t, i), newTalk(t, i) // in one room others talk, in the other only who is cut off
	endBusy, endAlone := busy.begin(0, 1), alone.begin(2)
	lasts(time.Second)

	cut := time.Now()
	proxies[2].Swallow(true)
	lasts(20 * time.Second)
	healed := time.Now()
	proxies[2].Swallow(false)
	eventually(t, 10*time.Second, "it is ready again", func() bool { return i.nodes[2].ready(t) == http.StatusOK })
	lasts(3 * time.Second)
	endBusy()
	endAlone()

	for what, k := range map[string]*talk{"to the one cut off": busy, "from the one cut off": alone} {
		k.allHeard()
		t.Log(what)
		_, others := k.slowest("while it is cut off", between{cut, healed})
		mustTake(t, "the way "+what, others, 10*time.Second)
		_, others = k.slowest("while it heals", between{healed, healed.Add(2 * time.Second)})
		mustTake(t, "the way "+what, others, 2*time.Second)
		_, others = k.slowest("afterwards", between{healed.Add(2 * time.Second), time.Now()})
		mustTake(t, "the way "+what, others, time.Second)
	}
}
