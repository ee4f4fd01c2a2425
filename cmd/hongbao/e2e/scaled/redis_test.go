package scaled

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledRedisPaused freezes Redis for ten seconds while its connections stay open. Chat goes on, grabs are answered
// unavailable, and afterwards everything succeeds.
func TestScaledRedisPaused(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), storetest.Database(t), e2e.Three()...)
	// In busy every server has a speaker. In quiet only one server has: there a lost text shows no gap until another
	// text comes.
	busy, quiet := newConversation(t, cluster.Servers...), newConversation(t, cluster.Servers...)
	var grabbers []*e2e.Client // not the speakers: a client that waits for a grab cannot speak
	for _, s := range cluster.Servers {
		client := e2e.Connect(t, s, s.Guest("grabber"), false)
		e2e.Call[wire.JoinReply](client, "join", wire.JoinRequest{Room: busy.room})
		grabbers = append(grabbers, client)
	}
	packet := busy.packet(len(grabbers))
	began := time.Now()
	endBusy, endQuiet := busy.begin(0, 1, 2), quiet.begin(0)
	time.Sleep(2 * time.Second)

	paused := time.Now()
	cluster.Redis.Pause()
	var meanwhile sync.WaitGroup
	meanwhile.Go(func() { mustBeUnavailable(t, grabbers[0], packet) })
	busy.addNewcomer(cluster.Servers[1], "before the pause is noticed")
	for _, s := range cluster.Servers {
		s.AwaitLog("bus is down", 1)
	}
	noticed := time.Now()
	e2e.MustTake(t, "noticing that Redis does not answer", noticed.Sub(paused), 3*time.Second)
	meanwhile.Go(func() { mustBeUnavailable(t, grabbers[1], packet) })
	for _, s := range cluster.Servers {
		e2e.Eventually(t, 10*time.Second, "/readyz of "+s.URL.Host+" is 200 and degraded", func() bool {
			status, state := s.Ready()
			return status == http.StatusOK && state == "degraded"
		})
	}
	busy.addNewcomer(cluster.Servers[2], "after the pause is noticed")
	mustBeUnavailable(t, grabbers[2], packet)
	meanwhile.Wait()
	time.Sleep(time.Until(paused.Add(10 * time.Second)))
	cluster.Redis.Resume()
	resumed := time.Now()

	for _, client := range grabbers {
		if reply := e2e.Call[wire.GrabReply](client, "grab", wire.GrabRequest{Packet: packet}); reply.Amount != 100 {
			t.Errorf("%s: the grab repeated after the pause is answered %+v, want a share of 100", client.User.Name, reply)
		}
	}
	t.Logf("all grabs have succeeded %v after Redis goes on", time.Since(resumed).Round(time.Millisecond))
	for _, s := range cluster.Servers {
		e2e.Eventually(t, 10*time.Second, s.URL.Host+" is ready again", s.IsReady)
	}
	for _, s := range cluster.Servers {
		s.AwaitLog("bus is up", 2)
	}
	up := time.Now()
	t.Logf("the bus was down %v after the pause began, and up %v after it ended", noticed.Sub(paused), up.Sub(resumed))
	time.Sleep(2 * time.Second)
	endBusy()
	endQuiet()
	for _, c := range []*conversation{busy, quiet} {
		c.awaitAll()
		c.measureUsual("before the pause", period{began, paused})
		c.mustDeliver("until the pause is noticed", period{paused, noticed}, atOwnServer, 10*time.Second)
		c.mustDeliver("while it is noticed", period{noticed, up}, atOwnServer, 2*time.Second)
		c.mustDeliver("after the pause", period{up, time.Now()}, atOwnServer, 2*time.Second) // earlier texts are still on their way
	}
	for _, newcomer := range busy.listeners[len(busy.speakers):] {
		newcomer.await(busy.sent[len(busy.sent)-1].key)
	}
	if claims := busy.claims(packet); len(claims) != len(grabbers) {
		t.Errorf("the packet has %d claims, want %d", len(claims), len(grabbers))
	}
	for _, s := range cluster.Servers {
		for _, message := range []string{"presence is not renewed", "bus connection lost", "bus is down"} {
			if times := strings.Count(s.Log(), message); times > 1 {
				e2e.TooSlow(t, "%s logged %q %d times for one outage, want at most once", s.URL.Host, message, times)
			}
		}
	}
	cluster.Front().MustBalance()
}

// mustBeUnavailable grabs, and wants the answer unavailable within 3 s.
func mustBeUnavailable(t *testing.T, client *e2e.Client, packet string) {
	began := time.Now()
	reply, err := e2e.Try[wire.GrabReply](context.Background(), client, "grab", wire.GrabRequest{Packet: packet})
	took := time.Since(began)
	t.Logf("%s: grab without Redis: %v after %v", client.User.Name, err, took.Round(time.Millisecond))
	var answer *centrifuge.Error
	if !errors.As(err, &answer) || answer.Code != uint32(wire.CodeUnavailable) || !answer.Temporary {
		t.Errorf("%s: grab without Redis: reply %+v, error %v; want a temporary %d unavailable", client.User.Name, reply, err, wire.CodeUnavailable)
	}
	e2e.MustTake(t, "the answer to a grab without Redis", took, 3*time.Second)
}

// TestScaledHalfOpen lets the network swallow all bytes between one server and Redis, while the connections stay open.
// Every text must still reach everyone.
func TestScaledHalfOpen(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	redis := storetest.Redis(t)
	var proxies []*loopback.Proxy
	var each [][]string
	for range e2e.Three() {
		p, err := loopback.StartProxy(redis.Addr())
		e2e.NoError(t, err)
		t.Cleanup(p.Close)
		proxies = append(proxies, p)
		each = append(each, []string{"HONGBAO_REDIS_URL=" + e2e.RedisURL(p.Addr())})
	}
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), redis, storetest.Database(t), each...)
	proxy, cutOff := proxies[2], cluster.Servers[2]
	others, alone := newConversation(t, cluster.Servers...), newConversation(t, cluster.Servers...) // without and only with a speaker at cutOff
	began := time.Now()
	endOthers, endAlone := others.begin(0, 1), alone.begin(2)
	time.Sleep(time.Second)

	halfOpen := time.Now()
	proxy.Swallow(true)
	cutOff.AwaitLog("bus is down", 1)
	proxy.Swallow(false) // for new connections: those that have lost bytes stay dead
	cutOff.AwaitLog("bus is up", 2)
	time.Sleep(2 * time.Second)

	cut := time.Now()
	proxy.Swallow(true)
	time.Sleep(20 * time.Second)
	healed := time.Now()
	proxy.Swallow(false)
	cutOff.AwaitLog("bus is up", 3)
	up := time.Now()
	t.Logf("the bus is up %v after the connection works again", up.Sub(healed).Round(time.Millisecond))
	time.Sleep(2 * time.Second) // the server publishes what it held back after a short delay
	calm := time.Now()
	time.Sleep(2 * time.Second)
	endOthers()
	endAlone()

	for origin, c := range map[string]*conversation{"texts from other servers": others, "texts from the server that is cut off": alone} {
		t.Log(origin)
		c.awaitAll()
		c.measureUsual("before the fault", period{began, halfOpen})
		healing := 10 * time.Second
		if c == others {
			healing = 2 * time.Second
		}
		c.mustDeliver("while connections are half open", period{halfOpen, cut}, atOwnServer, 10*time.Second)
		c.mustDeliver("while no connection works", period{cut, healed}, atOwnServer, 10*time.Second)
		c.mustDeliver("while it heals", period{healed, calm}, atOwnServer, healing)
		c.mustDeliver("afterwards", period{calm, time.Now()}, atOwnServer, time.Second)
	}
}
