package bus

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"hongbao/hub"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

// testKey tags the messages of all instances of these tests.
var testKey = []byte("key of all instances")

// patientBus returns one instance's end of the bus, which takes neither Redis nor a peer for silent on a busy machine.
func patientBus(t testing.TB, url string) *Bus {
	b := openBus(t, url)
	b.stepTimeout, b.silentAfter = time.Minute, time.Hour
	return b
}

// openBus returns one instance's end of the bus, as redisstore.Open does.
func openBus(t testing.TB, url string) *Bus {
	t.Helper()
	target, err := nodes.Parse(url)
	noError(t, err)
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	return New(redistest.Dial(t, url), Options{Log: log, Key: testKey, Sentinel: target.Sentinel()})
}

func TestBus(t *testing.T) {
	t.Parallel()
	url := storetest.Redis(t).URL()
	storetest.TestBus(t, func(t *testing.T) (a, b hub.Bus) { return patientBus(t, url), patientBus(t, url) })
}

func TestBusCluster(t *testing.T) {
	t.Parallel()
	url := storetest.RedisCluster(t).URL()
	storetest.TestBus(t, func(t *testing.T) (a, b hub.Bus) { return patientBus(t, url), patientBus(t, url) })
}

// TestBusDatabases checks that installations in different databases of one server do not receive each other's messages.
func TestBusDatabases(t *testing.T) {
	addr := storetest.SharedRedis(t).Addr()
	zero := storetest.RunBus(t, patientBus(t, "redis://"+addr+"/0"))
	alsoZero := storetest.RunBus(t, patientBus(t, "redis://"+addr+"/0"))
	one := storetest.RunBus(t, patientBus(t, "redis://"+addr+"/1"))
	another := storetest.RunBus(t, patientBus(t, "redis://"+addr+"/1"))
	zero.Listen(alsoZero, "room")
	one.Listen(another, "room")
	another.Say("room", "in one")
	one.Until("its message", func() bool { return len(one.Of("room")) == 1 })
	alsoZero.Say("room", "in zero") // Redis delivers it after the other one
	zero.Until("the message of its database alone", func() bool {
		if got := zero.Of("room"); len(got) > 0 && got[0] != "in zero" {
			t.Fatalf("received %q", got)
		}
		return len(zero.Of("room")) == 1
	})
}

// TestBusUpMeansSubscribed checks that the heartbeat channel is subscribed after all topics. So a bus that is up
// misses no topic.
func TestBusUpMeansSubscribed(t *testing.T) {
	server := storetest.SharedRedis(t)
	written := &recordedWrites{}
	client := redis.NewClient(&redis.Options{Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, server.Addr())
		return recordingConn{conn, written}, err
	}})
	t.Cleanup(func() { client.Close() })
	b := New(client, Options{Log: slog.New(slog.DiscardHandler)})
	b.stepTimeout, b.silentAfter = time.Minute, time.Hour
	const topics = 3 * topicsPerCommand
	for i := range topics {
		b.Subscribe(fmt.Sprint("many:", i))
	}
	storetest.RunBus(t, b)
	written.mu.Lock()
	defer written.mu.Unlock()
	before, _, found := strings.Cut(written.String(), "\r\nhb:v2:0\r\n")
	if n := strings.Count(before, "\r\nhb:v2:0:many:"); !found || n != topics {
		t.Errorf("%d of %d topics were subscribed before the heartbeats", n, topics)
	}
	if n := strings.Count(before, "subscribe"); n != topics/topicsPerCommand+1 {
		t.Errorf("%d subscribe commands", n)
	}
}

// recordedWrites holds the bytes that were written to connections.
type recordedWrites struct {
	mu sync.Mutex
	strings.Builder
}

type recordingConn struct {
	net.Conn
	to *recordedWrites
}

func (c recordingConn) Write(b []byte) (int, error) {
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	c.to.Write(b)
	return c.Conn.Write(b)
}

// BenchmarkBus measures how fast messages go from one instance to another.
func BenchmarkBus(b *testing.B) {
	for name, url := range map[string]string{"standalone": storetest.SharedRedis(b).URL(), "cluster": storetest.RedisCluster(b).URL()} {
		b.Run(name, func(b *testing.B) {
			from, to := openBus(b, url), openBus(b, url)
			ctx, cancel := context.WithCancel(context.Background())
			var running sync.WaitGroup
			near, far := newCountingReceiver(), newCountingReceiver()
			running.Go(func() { _ = from.Run(ctx, near) })
			running.Go(func() { _ = to.Run(ctx, far) })
			topics := make([]string, 64)
			for i := range topics {
				topics[i] = fmt.Sprint("room:", i)
			}
			to.Subscribe(topics...)
			<-near.up
			<-far.up
			payload := make([]byte, 300)
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				from.Publish(topics[i%len(topics)], payload, hub.Kept)
				for i%1024 == 1023 && far.received.Load() < int64(i-2048) { // the send queue is bounded
					runtime.Gosched()
				}
			}
			for far.received.Load() < int64(b.N) {
				runtime.Gosched()
			}
			b.StopTimer()
			cancel()
			running.Wait()
		})
	}
}

// TestBusTags checks that the partitions of the bus spread evenly over the nodes of clusters of several sizes.
func TestBusTags(t *testing.T) {
	t.Parallel() // it waits for a cluster
	server := storetest.RedisCluster(t).Nodes()[0]
	node := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer node.Close()
	for _, nodes := range []int{1, 2, 3, 4, 5, 6, 8, 12, 16} {
		counts := make([]int, nodes)
		for _, tag := range shardTags {
			slot, err := node.ClusterKeySlot(t.Context(), "hb:v2:{"+tag+"}:room").Result()
			noError(t, err)
			counts[int(slot)*nodes/16384]++
		}
		for i, n := range counts {
			if n < 16/nodes || n > (16+nodes-1)/nodes {
				t.Errorf("node %d of %d has %d partitions: %v", i, nodes, n, counts)
			}
		}
	}
}

// TestBusStartStop starts and stops a bus 30 times while it is used. No goroutine remains.
func TestBusStartStop(t *testing.T) {
	url := storetest.SharedRedis(t).URL()
	target, err := nodes.Parse(url)
	noError(t, err)
	before := goleak.IgnoreCurrent()
	client := target.Client()
	b := New(client, Options{Log: slog.New(slog.DiscardHandler)})
	for round := range 30 {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		countingReceiver := newCountingReceiver()
		go func() { ended <- b.Run(ctx, countingReceiver) }()
		if round%2 == 0 {
			<-countingReceiver.up
		}
		for i := range 50 {
			b.Subscribe("room")
			b.Publish("room", []byte("x"), hub.Rank(i))
			b.Unsubscribe("room")
		}
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("Run does not end")
		}
	}
	client.Close()
	goleak.VerifyNone(t, before)
}

// countingReceiver counts payloads, and signals when the bus is up.
type countingReceiver struct {
	up       chan struct{}
	received atomic.Int64
}

func newCountingReceiver() *countingReceiver       { return &countingReceiver{up: make(chan struct{}, 1)} }
func (e *countingReceiver) Receive(string, []byte) { e.received.Add(1) }
func (e *countingReceiver) Forged(string)          {}
func (e *countingReceiver) Suspect()               {}
func (e *countingReceiver) Compare()               {}
func (e *countingReceiver) Down(down bool) {
	if !down {
		e.up <- struct{}{}
	}
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
