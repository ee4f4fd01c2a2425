package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
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
	k, alone := newTalk(t, i), newTalk(t, i) // in one room all talk, in the other one person: there no gap shows
	var grabbers []*client                   // who waits for a grab says nothing meanwhile, so these are others
	for _, n := range i.nodes {
		c := connect(t, n, n.guest("grabber"), false)
		must[wire.JoinReply](c, "join", wire.JoinRequest{Room: k.room})
		grabbers = append(grabbers, c)
	}
	packet := k.packet(len(grabbers))
	began := time.Now()
	end, endAlone := k.begin(0, 1, 2), alone.begin(0)
	lasts(2 * time.Second)

	paused := time.Now()
	i.redis.Pause()
	var meanwhile sync.WaitGroup
	meanwhile.Go(func() { refused(t, grabbers[0], packet) })
	k.comesLate(i.nodes[1], "before it is known")
	for _, n := range i.nodes {
		n.says("bus is down", 1)
	}
	known := time.Now()
	mustTake(t, "to notice", known.Sub(paused), 3*time.Second)
	meanwhile.Go(func() { refused(t, grabbers[1], packet) })
	for _, n := range i.nodes {
		eventually(t, 10*time.Second, "it is not ready", func() bool { return n.ready() == http.StatusServiceUnavailable })
	}
	k.comesLate(i.nodes[2], "when it is known")
	refused(t, grabbers[2], packet)
	meanwhile.Wait()
	lasts(time.Until(paused.Add(10 * time.Second)))
	i.redis.Resume()
	resumed := time.Now()

	for _, c := range grabbers {
		if reply := must[wire.GrabReply](c, "grab", wire.GrabRequest{Packet: packet}); reply.Amount != 100 {
			t.Errorf("%s: the same grab is told %+v", c.user.Name, reply)
		}
	}
	t.Logf("all grabs have succeeded %v after Redis goes on", time.Since(resumed).Round(time.Millisecond))
	for _, n := range i.nodes {
		eventually(t, 10*time.Second, "it is ready again", func() bool { return n.ready() == http.StatusOK })
	}
	for _, n := range i.nodes {
		n.says("bus is up", 2)
	}
	up := time.Now()
	t.Logf("the bus was down after %v, and is up %v after Redis goes on", known.Sub(paused), up.Sub(resumed))
	lasts(2 * time.Second)
	end()
	endAlone()
	for _, k := range []*talk{k, alone} {
		k.allHeard()
		k.asUsual(between{began, paused})
		k.mustHear("until it is known", between{paused, known}, 300*time.Millisecond, 10*time.Second)
		k.mustHear("while it is known", between{known, up}, 300*time.Millisecond, 2*time.Second)
		k.mustHear("afterwards", between{up, time.Now()}, time.Second, 2*time.Second) // what was kept is still on its way
	}
	for _, late := range k.ears[len(k.speakers):] {
		late.awaits(k.said[len(k.said)-1].key)
	}
	if claims := k.claims(packet); len(claims) != len(grabbers) {
		t.Errorf("the packet has %d claims", len(claims))
	}
	for _, n := range i.nodes {
		for _, once := range []string{"presence is not renewed", "bus connection lost", "bus is down"} {
			if times := strings.Count(n.logged(), once); times > 1 {
				t.Errorf("%s logs %q %d times for one outage", n.url.Host, once, times)
			}
		}
	}
	i.place().mustBalance()
}

// says waits until the server has logged something so many times.
func (n *node) says(what string, times int) {
	n.t.Helper()
	eventually(n.t, 10*time.Second, n.url.Host+" logs: "+what, func() bool { return strings.Count(n.logged(), what) >= times })
}

// packet sends one of 100 a share, whose end nobody waits for.
func (k *talk) packet(count int) (id string) {
	k.t.Helper()
	return must[wire.SendPacketReply](k.speakers[0], "send_packet", wire.SendPacketRequest{
		Room: k.room, Key: "packet", Mode: "equal", Total: int64(100 * count), Count: new(count),
	}).Packet.ID
}

func (k *talk) claims(packet string) []wire.Claim {
	k.t.Helper()
	return must[wire.PacketReply](k.speakers[0], "packet", wire.PacketRequest{Packet: packet}).Claims
}

// refused grabs, and wants to be told soon that this cannot be answered.
func refused(t *testing.T, c *client, packet string) {
	began := time.Now()
	reply, err := ask[wire.GrabReply](context.Background(), c, "grab", wire.GrabRequest{Packet: packet})
	took := time.Since(began)
	t.Logf("%s: grab: %v after %v", c.user.Name, err, took.Round(time.Millisecond))
	var answer *centrifuge.Error
	if !errors.As(err, &answer) || answer.Code != uint32(wire.CodeUnavailable) || !answer.Temporary {
		t.Errorf("%s: grab: %+v, %v; want unavailable", c.user.Name, reply, err)
	}
	mustTake(t, "a refused grab", took, 3*time.Second)
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
func (n *node) ready() (status int) {
	response, err := http.Get(n.ops + "readyz")
	if err != nil {
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode
}

// TestScaledHalfOpen takes one server's way to Redis without a sign: connections stay open and carry nothing. What is
// said reaches everyone all the same.
func TestScaledHalfOpen(t *testing.T) {
	redis := storetest.Redis(t)
	var lines []*loopback.Proxy
	var each [][]string
	for range three() {
		p, err := loopback.StartProxy(redis.Addr())
		check(t, err)
		t.Cleanup(p.Close)
		lines = append(lines, p)
		each = append(each, []string{"HONGBAO_REDIS_URL=redis://" + p.Addr() + "/0"})
	}
	i := install(t, build(t, ""), redis, storetest.Database(t), each...)
	line, cutOff := lines[2], i.nodes[2]
	busy, alone := newTalk(t, i), newTalk(t, i) // in one room others talk, in the other only who is cut off
	began := time.Now()
	endBusy, endAlone := busy.begin(0, 1), alone.begin(2)
	lasts(time.Second)

	half := time.Now()
	line.Swallow(true)
	cutOff.says("bus is down", 1)
	line.Swallow(false) // for new connections: what has lost something stays dumb
	cutOff.says("bus is up", 2)
	lasts(2 * time.Second)

	cut := time.Now()
	line.Swallow(true)
	lasts(20 * time.Second)
	healed := time.Now()
	line.Swallow(false)
	cutOff.says("bus is up", 3)
	up := time.Now()
	t.Logf("its bus is up %v after the line is whole", up.Sub(healed).Round(time.Millisecond))
	lasts(2 * time.Second) // what it has to say waits a little, for it may not have been the only one
	calm := time.Now()
	lasts(2 * time.Second)
	endBusy()
	endAlone()

	t.Log("what others say:")
	busy.allHeard()
	busy.asUsual(between{began, half})
	busy.mustHear("while connections are dead", between{half, cut}, 300*time.Millisecond, 10*time.Second)
	busy.mustHear("while there are none", between{cut, healed}, 300*time.Millisecond, 10*time.Second)
	busy.mustHear("while it heals", between{healed, calm}, 300*time.Millisecond, 2*time.Second)
	busy.mustHear("afterwards", between{calm, time.Now()}, 300*time.Millisecond, time.Second)
	t.Log("what the one says that is cut off:")
	alone.allHeard()
	alone.asUsual(between{began, half})
	alone.mustHear("while connections are dead", between{half, cut}, 300*time.Millisecond, 10*time.Second)
	alone.mustHear("while there are none", between{cut, healed}, 300*time.Millisecond, 10*time.Second)
	alone.mustHear("while it heals", between{healed, calm}, 300*time.Millisecond, 10*time.Second)
	alone.mustHear("afterwards", between{calm, time.Now()}, 300*time.Millisecond, time.Second)
}
