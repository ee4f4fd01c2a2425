package redisstore

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"hongbao/hub"
	"hongbao/store/storetest"
)

// openBus makes an instance's end of the bus, as Open does.
func openBus(t testing.TB, url string) *bus {
	t.Helper()
	target, err := parse(url)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	return newBus(dial(t, url), busOptions{log: log, sentinel: target.kind == sentinel})
}

func TestBus(t *testing.T) {
	url := storetest.Redis(t).URL()
	storetest.TestBus(t, func(t *testing.T) (a, b hub.Bus) { return openBus(t, url), openBus(t, url) })
}

func TestBusCluster(t *testing.T) {
	url := storetest.RedisCluster(t).URL()
	storetest.TestBus(t, func(t *testing.T) (a, b hub.Bus) { return openBus(t, url), openBus(t, url) })
}

// TestBusDatabases: channels know nothing of databases, installations that share a server do.
func TestBusDatabases(t *testing.T) {
	addr := storetest.SharedRedis(t).Addr()
	zero := storetest.RunBus(t, openBus(t, "redis://"+addr+"/0"))
	one := storetest.RunBus(t, openBus(t, "redis://"+addr+"/1"))
	another := storetest.RunBus(t, openBus(t, "redis://"+addr+"/1"))
	zero.Subscribe("room")
	one.Listen(another, "room")
	zero.Until("silence", func() bool { return len(zero.Received) == 0 })
}

// TestBusUpMeansSubscribed: the own heart is subscribed to last, so when it is heard, all else is subscribed.
func TestBusUpMeansSubscribed(t *testing.T) {
	server := storetest.SharedRedis(t)
	written := &writings{}
	client := redis.NewClient(&redis.Options{Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, server.Addr())
		return spiedConn{conn, written}, err
	}})
	t.Cleanup(func() { client.Close() })
	b := newBus(client, busOptions{log: slog.New(slog.DiscardHandler)})
	const topics = 3 * subscribeLen
	for i := range topics {
		b.Subscribe(fmt.Sprint("many:", i))
	}
	storetest.RunBus(t, b)
	written.mu.Lock()
	defer written.mu.Unlock()
	before, _, found := strings.Cut(written.String(), "\r\nhb:0\r\n")
	if n := strings.Count(before, "\r\nhb:0:many:"); !found || n != topics {
		t.Errorf("%d of %d topics were subscribed before the heartbeats", n, topics)
	}
	if n := strings.Count(before, "subscribe"); n != topics/subscribeLen+1 {
		t.Errorf("%d commands", n)
	}
}

// writings are what was written to connections.
type writings struct {
	mu sync.Mutex
	strings.Builder
}

type spiedConn struct {
	net.Conn
	to *writings
}

func (c spiedConn) Write(b []byte) (int, error) {
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	c.to.Write(b)
	return c.Conn.Write(b)
}

// BenchmarkBus carries messages from one instance to another.
func BenchmarkBus(b *testing.B) {
	for name, url := range map[string]string{"standalone": storetest.SharedRedis(b).URL(), "cluster": storetest.RedisCluster(b).URL()} {
		b.Run(name, func(b *testing.B) {
			from, to := openBus(b, url), openBus(b, url)
			ctx, cancel := context.WithCancel(context.Background())
			var running sync.WaitGroup
			near, far := newEar(), newEar()
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
				for i%1024 == 1023 && far.came.Load() < int64(i-2048) { // the outbox is bounded
					runtime.Gosched()
				}
			}
			for far.came.Load() < int64(b.N) {
				runtime.Gosched()
			}
			b.StopTimer()
			cancel()
			running.Wait()
		})
	}
}

// TestBusTags shares the partitions out among the nodes of clusters.
func TestBusTags(t *testing.T) {
	server := storetest.RedisCluster(t).Nodes()[0]
	node := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer node.Close()
	for _, nodes := range []int{1, 2, 3, 4, 5, 6, 8, 12, 16} {
		share := make([]int, nodes)
		for _, tag := range busTags {
			slot, err := node.ClusterKeySlot(t.Context(), "hb:{"+tag+"}:room").Result()
			if err != nil {
				t.Fatal(err)
			}
			share[int(slot)*nodes/16384]++
		}
		for i, n := range share {
			if n < 16/nodes || n > (16+nodes-1)/nodes {
				t.Errorf("of %d nodes number %d has %d partitions: %v", nodes, i, n, share)
			}
		}
	}
}

// TestBusStartStop runs a bus again and again while it is used. Nothing is left behind.
func TestBusStartStop(t *testing.T) {
	url := storetest.SharedRedis(t).URL()
	target, err := parse(url)
	if err != nil {
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	client := target.client()
	b := newBus(client, busOptions{log: slog.New(slog.DiscardHandler)})
	for round := range 30 {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		ear := newEar()
		go func() { ended <- b.Run(ctx, ear) }()
		if round%2 == 0 {
			<-ear.up
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
		case <-time.After(10 * time.Second):
			t.Fatal("Run does not end")
		}
	}
	client.Close()
	goleak.VerifyNone(t, before)
}

// ear is a receiver that counts, and tells when the bus is up.
type ear struct {
	up   chan struct{}
	came atomic.Int64
}

func newEar() *ear                    { return &ear{up: make(chan struct{}, 1)} }
func (e *ear) Receive(string, []byte) { e.came.Add(1) }
func (e *ear) Suspect()               {}
func (e *ear) Compare()               {}
func (e *ear) Down(down bool) {
	if !down {
		e.up <- struct{}{}
	}
}
