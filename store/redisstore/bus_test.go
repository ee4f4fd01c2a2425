package redisstore

import (
	"context"
	"log/slog"
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
	for range 30 {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx, deafEar{}) }()
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

// deafEar is a receiver that does nothing.
type deafEar struct{}

func (deafEar) Receive(string, []byte) {}
func (deafEar) Suspect()               {}
func (deafEar) Down(bool)              {}
