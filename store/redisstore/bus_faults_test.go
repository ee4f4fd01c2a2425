package redisstore

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/hub"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// noticedWithin is how soon an end knows that it hears nothing. Three heartbeats, and what a busy machine takes.
const noticedWithin = 6 * time.Second

// twoEnds are two instances on a server of their own; the near one reaches it through a proxy.
func twoEnds(t *testing.T) (server *loopback.Redis, proxy *loopback.Proxy, near, far *storetest.BusEnd) {
	t.Helper()
	server = storetest.Redis(t)
	proxy, err := loopback.StartProxy(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	near = storetest.RunBus(t, openBus(t, "redis://"+proxy.Addr()+"/0"))
	far = storetest.RunBus(t, openBus(t, server.URL()))
	near.Listen(far, "room")
	far.Listen(near, "room")
	near.Forget()
	far.Forget()
	return server, proxy, near, far
}

// soon waits for an end to notice.
func soon(t *testing.T, end *storetest.BusEnd, what string, met func() bool) {
	t.Helper()
	began := time.Now()
	end.Until(what, met)
	if took := time.Since(began); took > noticedWithin {
		t.Errorf("%s: only after %v", what, took)
	} else {
		t.Logf("%s: after %v", what, took.Round(10*time.Millisecond))
	}
}

// await polls for what no event tells.
func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for !met() {
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		}
	}
}

// sayMany says kept texts and gives them as they must come.
func sayMany(end *storetest.BusEnd, topic, prefix string, count int) (texts []string) {
	for i := range count {
		texts = append(texts, fmt.Sprint(prefix, i))
		end.Say(topic, texts[i])
	}
	return texts
}

// wantKept waits until the texts have come, and looks whether they came once each and in order.
func wantKept(t *testing.T, end *storetest.BusEnd, topic string, texts []string) {
	t.Helper()
	var got []string
	end.Until("all of "+texts[0]+"…", func() bool {
		got = slices.DeleteFunc(end.Of(topic), func(s string) bool { return !slices.Contains(texts, s) })
		return slices.Contains(got, texts[len(texts)-1])
	})
	if !slices.Equal(got, texts) {
		t.Errorf("%d kept payloads came of %d, or not in order: %q", len(got), len(texts), got)
	}
}

func isDown(end *storetest.BusEnd) func() bool { return func() bool { return end.IsDown } }
func isUp(end *storetest.BusEnd) func() bool {
	return func() bool { return !end.IsDown && end.Suspects > 0 }
}

// TestBusHalfOpen has the connections of one instance swallow everything, and heals them.
func TestBusHalfOpen(t *testing.T) {
	t.Parallel()
	_, proxy, near, far := twoEnds(t)
	proxy.Swallow(true)
	soon(t, near, "down", isDown(near))
	texts := sayMany(near, "room", "kept ", 3)
	for i := range 5 {
		near.Publish("room", fmt.Appendf(nil, "ranked %d", i+1), hub.Rank(i+1))
	}
	soon(t, far, "a peer's heart not heard", func() bool { return far.Suspects > 0 })
	far.Until("comparing again and again", func() bool { return far.Compares >= 2 })
	proxy.Swallow(false)
	soon(t, near, "up again", isUp(near))
	wantKept(t, far, "room", texts)
	far.Until("the highest rank", func() bool { return slices.Contains(far.Of("room"), "ranked 5") })
	far.Until("one suspicion", func() bool { return far.Suspects == 1 && !far.IsDown })
	near.Say("room", "after")
	far.Say("room", "after")
	wantKept(t, far, "room", []string{"after"})
	wantKept(t, near, "room", []string{"after"})
}

// TestBusDeafConnection has only the listening connection swallow everything: all that is published arrives.
func TestBusDeafConnection(t *testing.T) {
	t.Parallel()
	server := storetest.Redis(t)
	proxy, err := loopback.StartProxy(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	var dials atomic.Int32
	client := redis.NewClient(&redis.Options{Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
		to := server.Addr()
		if dials.Add(1)%lineDials == 1 { // a line's first
			to = proxy.Addr()
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}})
	t.Cleanup(func() { client.Close() })
	near := storetest.RunBus(t, newBus(client, busOptions{log: slog.New(slog.DiscardHandler)}))
	far := storetest.RunBus(t, openBus(t, server.URL()))
	far.Listen(near, "room")
	near.Listen(far, "room")
	near.Forget()
	proxy.Swallow(true)
	near.Say("room", "goes out")
	wantKept(t, far, "room", []string{"goes out"})
	soon(t, near, "down", isDown(near))
	proxy.Swallow(false)
	soon(t, near, "up again", isUp(near))
	far.Say("room", "after")
	wantKept(t, near, "room", []string{"after"})
}

// TestBusHeldUp: a receiver that takes its time is not taken for the silence of Redis or of a peer.
func TestBusHeldUp(t *testing.T) {
	t.Parallel()
	_, _, near, far := twoEnds(t)
	release := near.Hold()
	far.Say("room", "takes its time")
	<-time.After(silence + 2*beatEvery)
	release()
	wantKept(t, near, "room", []string{"takes its time"})
	far.Say("room", "after")
	wantKept(t, near, "room", []string{"after"})
	near.Until("no suspicion", func() bool { return !near.IsDown && near.Suspects == 0 })
}

// TestBusRepliesLost: nobody knows whether what was published has gone out. It comes once.
func TestBusRepliesLost(t *testing.T) {
	t.Parallel()
	_, proxy, near, far := twoEnds(t)
	proxy.DropReplies(true)
	texts := sayMany(near, "room", "kept ", 100)
	soon(t, near, "down", isDown(near))
	texts = append(texts, sayMany(near, "room", "more ", 100)...)
	proxy.DropReplies(false)
	soon(t, near, "up again", isUp(near))
	wantKept(t, far, "room", texts)
}

func TestBusCut(t *testing.T) {
	t.Parallel()
	_, proxy, near, far := twoEnds(t)
	for range 5 {
		proxy.Cut()
		near.Until("up again", isUp(near))
		texts := sayMany(near, "room", "kept ", 10)
		wantKept(t, far, "room", texts)
		far.Say("room", "after")
		wantKept(t, near, "room", []string{"after"})
		near.Forget()
		far.Forget()
	}
}

// TestBusPaused stops Redis for ten seconds.
func TestBusPaused(t *testing.T) {
	t.Parallel()
	server, _, near, far := twoEnds(t)
	server.Pause()
	resume := time.After(10 * time.Second)
	nears, fars := sayMany(near, "room", "near ", 50), sayMany(far, "room", "far ", 50)
	soon(t, near, "near down", isDown(near))
	soon(t, far, "far down", isDown(far))
	nears = append(nears, sayMany(near, "room", "near later ", 50)...)
	fars = append(fars, sayMany(far, "room", "far later ", 50)...)
	<-resume
	server.Resume()
	soon(t, near, "near up", isUp(near))
	soon(t, far, "far up", isUp(far))
	wantKept(t, far, "room", nears)
	wantKept(t, near, "room", fars)
}

func TestBusKilled(t *testing.T) {
	t.Parallel()
	server, _, near, far := twoEnds(t)
	server.Kill()
	soon(t, near, "near down", isDown(near))
	soon(t, far, "far down", isDown(far))
	nears, fars := sayMany(near, "room", "near ", 50), sayMany(far, "room", "far ", 50)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	soon(t, near, "near up", isUp(near))
	soon(t, far, "far up", isUp(far))
	wantKept(t, far, "room", nears)
	wantKept(t, near, "room", fars)
}

// TestBusDemoted: a master becomes a replica without anybody's hanging up.
func TestBusDemoted(t *testing.T) {
	t.Parallel()
	server, _, near, far := twoEnds(t)
	other := storetest.Redis(t)
	client := dial(t, server.URL())
	host, port := "127.0.0.1", other.Addr()[len("127.0.0.1:"):]
	if err := client.Do(t.Context(), "replicaof", host, port).Err(); err != nil {
		t.Fatal(err)
	}
	soon(t, near, "near down", isDown(near))
	soon(t, far, "far down", isDown(far))
	if err := client.Do(t.Context(), "replicaof", "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	soon(t, near, "near up", isUp(near))
	soon(t, far, "far up", isUp(far))
	near.Say("room", "after")
	wantKept(t, far, "room", []string{"after"})
}

// TestBusGoodbye: a peer that ends in good order arouses no suspicion.
func TestBusGoodbye(t *testing.T) {
	t.Parallel()
	url := storetest.SharedRedis(t).URL()
	b := openBus(t, url)
	stays := storetest.RunBus(t, b)
	leaver := openBus(t, url)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- leaver.Run(ctx, newEar()) }()
	known := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		_, ok := b.peers[leaver.id]
		return ok
	}
	await(t, "the other", known)
	stays.Forget()
	leave()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	await(t, "its goodbye", func() bool { return !known() })
	stays.Until("no suspicion", func() bool { return stays.Suspects == 0 })
}

// TestBusConfesses: who cannot keep what he should says so.
func TestBusConfesses(t *testing.T) {
	t.Parallel()
	url := storetest.SharedRedis(t).URL()
	a := openBus(t, url)
	a.lanes[0].outbox.limit = load{16, 1 << 20}
	a.lanes[0].outbox.tidyAt = load{4, 1 << 20}
	near, far := storetest.RunBus(t, a), storetest.RunBus(t, openBus(t, url))
	far.Forget()
	sayMany(near, "room", "too many ", 2000)
	far.Until("Suspect", func() bool { return far.Suspects > 0 })
}

// TestBusSentinelFailover kills the master.
func TestBusSentinelFailover(t *testing.T) {
	t.Parallel()
	sentinel, near, far := sentinelEnds(t)
	sentinel.Master().Kill()
	soon(t, near, "near down", isDown(near))
	soon(t, far, "far down", isDown(far))
	near.Until("near up", isUp(near))
	far.Until("far up", isUp(far))
	near.Say("room", "after")
	wantKept(t, far, "room", []string{"after"})
	client := dial(t, sentinel.Replica().URL())
	if n := client.PubSubNumSub(t.Context(), "hb:0:room").Val()["hb:0:room"]; n != 2 {
		t.Errorf("%d subscriptions at the new master", n)
	}
}

// TestBusMasterElsewhere: the sentinels name another master, and the old one goes on to answer.
func TestBusMasterElsewhere(t *testing.T) {
	t.Parallel()
	sentinel, near, far := sentinelEnds(t)
	other := storetest.Redis(t)
	target, err := parse(sentinel.URL())
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range target.addrs {
		watcher := redis.NewSentinelClient(&redis.Options{Addr: addr})
		defer watcher.Close()
		if err := watcher.Remove(t.Context(), target.master).Err(); err != nil {
			t.Fatal(err)
		}
		port := other.Addr()[len("127.0.0.1:"):]
		if err := watcher.Monitor(t.Context(), target.master, "127.0.0.1", port, "2").Err(); err != nil {
			t.Fatal(err)
		}
	}
	near.Until("near moved", isUp(near))
	far.Until("far moved", isUp(far))
	near.Say("room", "after")
	wantKept(t, far, "room", []string{"after"})
	if n := dial(t, other.URL()).PubSubNumSub(t.Context(), "hb:0:room").Val()["hb:0:room"]; n != 2 {
		t.Errorf("%d subscriptions at the new master", n)
	}
}

func sentinelEnds(t *testing.T) (sentinel *loopback.Sentinel, near, far *storetest.BusEnd) {
	t.Helper()
	sentinel, err := loopback.StartSentinel(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sentinel.Stop)
	near, far = storetest.RunBus(t, openBus(t, sentinel.URL())), storetest.RunBus(t, openBus(t, sentinel.URL()))
	far.Listen(near, "room")
	near.Subscribe("room")
	near.Forget()
	far.Forget()
	return sentinel, near, far
}
