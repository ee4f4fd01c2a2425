package bus

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/hub"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// noticedWithin is the longest that an instance may take in make nightly to notice that it receives nothing: three heartbeats,
// and a margin for a busy machine.
const noticedWithin = 15 * time.Second

// twoInstances starts two instances of the bus on a Redis of their own. near reaches Redis through a proxy, far
// directly.
func twoInstances(t *testing.T) (server *loopback.Redis, proxy *loopback.Proxy, near, far *storetest.BusEnd) {
	t.Helper()
	server = storetest.Redis(t)
	proxy, err := loopback.StartProxy(server.Addr())
	noError(t, err)
	t.Cleanup(proxy.Close)
	near = storetest.RunBus(t, openBus(t, "redis://"+proxy.Addr()+"/0"))
	far = storetest.RunBus(t, openBus(t, server.URL()))
	near.Listen(far, "room")
	far.Listen(near, "room")
	near.Forget()
	far.Forget()
	return server, proxy, near, far
}

// wantSoon waits for a condition. In make nightly it fails the test if that takes longer than noticedWithin.
func wantSoon(t *testing.T, end *storetest.BusEnd, what string, met func() bool) {
	t.Helper()
	began := time.Now()
	end.Until(what, met)
	if took := time.Since(began); took > noticedWithin && enginetest.Tonight("waits") {
		t.Errorf("%s: only after %v", what, took)
	} else {
		t.Logf("%s: after %v", what, took.Round(10*time.Millisecond))
	}
}

// publishMany publishes texts with rank hub.Kept, and returns them in the order in which they must arrive.
func publishMany(end *storetest.BusEnd, topic, prefix string, count int) (texts []string) {
	for i := range count {
		texts = append(texts, fmt.Sprint(prefix, i))
		end.Say(topic, texts[i])
	}
	return texts
}

// wantKept waits until the texts have arrived, and checks that each came once and in order.
func wantKept(t *testing.T, end *storetest.BusEnd, topic string, texts []string) {
	t.Helper()
	var got []string
	end.Until("all of "+texts[0]+"…", func() bool {
		got = slices.DeleteFunc(end.Of(topic), func(s string) bool { return !slices.Contains(texts, s) })
		return slices.Contains(got, texts[len(texts)-1])
	})
	if !slices.Equal(got, texts) {
		t.Errorf("received %d of %d kept payloads, or out of order: %q", len(got), len(texts), got)
	}
}

func isDown(end *storetest.BusEnd) func() bool { return func() bool { return end.IsDown } }
func isUp(end *storetest.BusEnd) func() bool {
	return func() bool { return !end.IsDown && end.Suspects > 0 }
}

// TestBusHalfOpen makes the connections of one instance swallow all bytes, and then restores them. That instance
// learns that its bus is down, and the other that a peer is silent. Afterwards all kept messages arrive.
func TestBusHalfOpen(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	_, proxy, near, far := twoInstances(t)
	proxy.Swallow(true)
	wantSoon(t, near, "down", isDown(near))
	texts := publishMany(near, "room", "kept ", 3)
	for i := range 5 {
		near.Publish("room", fmt.Appendf(nil, "ranked %d", i+1), hub.Rank(i+1))
	}
	wantSoon(t, far, "the peer's heartbeats missed", func() bool { return far.Suspects > 0 })
	far.Until("repeated comparisons", func() bool { return far.Compares >= 2 })
	proxy.Swallow(false)
	wantSoon(t, near, "up again", isUp(near))
	wantKept(t, far, "room", texts)
	far.Until("the highest rank", func() bool { return slices.Contains(far.Of("room"), "ranked 5") })
	far.Until("one Suspect", func() bool { return far.Suspects == 1 && !far.IsDown })
	near.Say("room", "after")
	far.Say("room", "after")
	wantKept(t, far, "room", []string{"after"})
	wantKept(t, near, "room", []string{"after"})
}

// TestBusListeningConnectionSilent makes only the connection on which an instance listens swallow all bytes. Messages
// that this instance publishes still arrive at the other.
func TestBusListeningConnectionSilent(t *testing.T) {
	t.Parallel()
	server := storetest.Redis(t)
	proxy, err := loopback.StartProxy(server.Addr())
	noError(t, err)
	t.Cleanup(proxy.Close)
	var dials atomic.Int32
	client := redis.NewClient(&redis.Options{Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
		to := server.Addr()
		if dials.Add(1)%linkDials == 1 { // the first connection of a link
			to = proxy.Addr()
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}})
	t.Cleanup(func() { client.Close() })
	near := storetest.RunBus(t, New(client, Options{Log: slog.New(slog.DiscardHandler), Key: testKey}))
	far := storetest.RunBus(t, openBus(t, server.URL()))
	far.Listen(near, "room")
	near.Listen(far, "room")
	near.Forget()
	proxy.Swallow(true)
	near.Say("room", "goes out")
	wantKept(t, far, "room", []string{"goes out"})
	wantSoon(t, near, "down", isDown(near))
	proxy.Swallow(false)
	wantSoon(t, near, "up again", isUp(near))
	far.Say("room", "after")
	wantKept(t, near, "room", []string{"after"})
}

// TestBusSlowReceiver blocks a receiver for several heartbeats. Neither Redis nor the peer may be taken for silent.
func TestBusSlowReceiver(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	_, _, near, far := twoInstances(t)
	release := near.Hold()
	far.Say("room", "takes its time")
	<-time.After(silentAfter + 2*heartbeatEvery)
	release()
	wantKept(t, near, "room", []string{"takes its time"})
	far.Say("room", "after")
	wantKept(t, near, "room", []string{"after"})
	near.Until("no Suspect", func() bool { return !near.IsDown && near.Suspects == 0 })
}

// TestBusRepliesLost drops the replies of Redis, so that the outcome of each publish is unknown. Each message arrives
// once.
func TestBusRepliesLost(t *testing.T) {
	t.Parallel()
	_, proxy, near, far := twoInstances(t)
	proxy.DropReplies(true)
	texts := publishMany(near, "room", "kept ", 100)
	wantSoon(t, near, "down", isDown(near))
	texts = append(texts, publishMany(near, "room", "more ", 100)...)
	proxy.DropReplies(false)
	wantSoon(t, near, "up again", isUp(near))
	wantKept(t, far, "room", texts)
}

func TestBusCut(t *testing.T) {
	t.Parallel()
	_, proxy, near, far := twoInstances(t)
	cuts := 1
	if enginetest.Tonight("waits") {
		cuts = 5
	}
	for range cuts {
		proxy.Cut()
		near.Until("up again", isUp(near))
		texts := publishMany(near, "room", "kept ", 10)
		wantKept(t, far, "room", texts)
		far.Say("room", "after")
		wantKept(t, near, "room", []string{"after"})
		near.Forget()
		far.Forget()
	}
}

func TestBusKilled(t *testing.T) {
	t.Parallel()
	server, _, near, far := twoInstances(t)
	server.Kill()
	wantSoon(t, near, "near down", isDown(near))
	wantSoon(t, far, "far down", isDown(far))
	nears, fars := publishMany(near, "room", "near ", 50), publishMany(far, "room", "far ", 50)
	noError(t, server.Restart(t.Context()))
	wantSoon(t, near, "near up", isUp(near))
	wantSoon(t, far, "far up", isUp(far))
	wantKept(t, far, "room", nears)
	wantKept(t, near, "room", fars)
}

// TestBusDemoted turns the Redis master into a replica without closing any connection. Both instances learn that the
// bus is down, until the server is a master again.
func TestBusDemoted(t *testing.T) {
	t.Parallel()
	server, _, near, far := twoInstances(t)
	other := storetest.Redis(t)
	client := redistest.Dial(t, server.URL())
	host, port := "127.0.0.1", other.Addr()[len("127.0.0.1:"):]
	noError(t, client.Do(t.Context(), "replicaof", host, port).Err())
	wantSoon(t, near, "near down", isDown(near))
	wantSoon(t, far, "far down", isDown(far))
	noError(t, client.Do(t.Context(), "replicaof", "no", "one").Err())
	wantSoon(t, near, "near up", isUp(near))
	wantSoon(t, far, "far up", isUp(far))
	near.Say("room", "after")
	wantKept(t, far, "room", []string{"after"})
}

// TestBusGoodbye shuts down one instance properly. The receiver of the other instance must get no Suspect.
func TestBusGoodbye(t *testing.T) {
	t.Parallel()
	url := storetest.Redis(t).URL() // its own: a loss of another test is a Suspect for all
	b := patientBus(t, url)
	stays := storetest.RunBus(t, b)
	leaver := patientBus(t, url)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- leaver.Run(ctx, newCountingReceiver()) }()
	known := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		_, ok := b.peers[leaver.id]
		return ok
	}
	redistest.Await(t, "the peer is known", known)
	stays.Forget()
	leave()
	noError(t, <-ended)
	redistest.Await(t, "the peer is forgotten", func() bool { return !known() })
	stays.Until("no Suspect", func() bool { return stays.Suspects == 0 })
}

// TestBusReportsItsLoss overflows the send queue of one instance with kept messages. The receivers of the other
// instances are told with Suspect.
func TestBusReportsItsLoss(t *testing.T) {
	t.Parallel()
	url := storetest.SharedRedis(t).URL()
	a := patientBus(t, url)
	a.shards[0].queue.limit = queueSize{16, 1 << 20}
	a.shards[0].queue.compactAt = queueSize{4, 1 << 20}
	near, far := storetest.RunBus(t, a), storetest.RunBus(t, patientBus(t, url))
	far.Forget()
	publishMany(near, "room", "too many ", 2000)
	far.Until("Suspect", func() bool { return far.Suspects > 0 })
}

// TestBusSentinelFailover kills the Redis master. The bus goes down, and comes up on the new master with all
// subscriptions.
func TestBusSentinelFailover(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	sentinel, near, far := twoSentinelInstances(t)
	sentinel.Master().Kill()
	wantSoon(t, near, "near down", isDown(near))
	wantSoon(t, far, "far down", isDown(far))
	near.Until("near up", isUp(near))
	far.Until("far up", isUp(far))
	near.Say("room", "after")
	wantKept(t, far, "room", []string{"after"})
	client := redistest.Dial(t, sentinel.Replica().URL())
	if n := client.PubSubNumSub(t.Context(), "hb:v2:0:room").Val()["hb:v2:0:room"]; n != 2 {
		t.Errorf("%d subscriptions at the new master", n)
	}
}

// TestBusMasterElsewhere makes the sentinels name another master while the old one still answers. The bus must move
// to the new one.
func TestBusMasterElsewhere(t *testing.T) {
	t.Parallel()
	sentinel, near, far := twoSentinelInstances(t)
	other := storetest.Redis(t)
	addrs, master, _ := strings.Cut(strings.TrimPrefix(sentinel.URL(), "redis+sentinel://"), "/")
	var watchers []*redis.SentinelClient
	for addr := range strings.SplitSeq(addrs, ",") { // all of them forget the old master first: one that knows it would tell the others
		watcher := redis.NewSentinelClient(&redis.Options{Addr: addr})
		defer watcher.Close()
		noError(t, watcher.Remove(t.Context(), master).Err())
		watchers = append(watchers, watcher)
	}
	for _, watcher := range watchers {
		noError(t, watcher.Monitor(t.Context(), master, "127.0.0.1", other.Addr()[len("127.0.0.1:"):], "2").Err())
	}
	near.Until("near moved", isUp(near))
	far.Until("far moved", isUp(far))
	near.Say("room", "after")
	wantKept(t, far, "room", []string{"after"})
	if n := redistest.Dial(t, other.URL()).PubSubNumSub(t.Context(), "hb:v2:0:room").Val()["hb:v2:0:room"]; n != 2 {
		t.Errorf("%d subscriptions at the new master", n)
	}
}

func twoSentinelInstances(t *testing.T) (sentinel *loopback.Sentinel, near, far *storetest.BusEnd) {
	t.Helper()
	enginetest.Need(t, "Redis")
	sentinel, err := loopback.StartSentinel(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(sentinel.Stop)
	near, far = storetest.RunBus(t, openBus(t, sentinel.URL())), storetest.RunBus(t, openBus(t, sentinel.URL()))
	far.Listen(near, "room")
	near.Subscribe("room")
	near.Forget()
	far.Forget()
	return sentinel, near, far
}
