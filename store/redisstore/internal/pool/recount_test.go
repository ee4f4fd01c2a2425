package pool

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// TestRecountHealsDrift changes the counter held or the outbox by hand in several ways. After a recount, held is
// right and the limit of the outbox holds again.
func TestRecountHealsDrift(t *testing.T) {
	client := redistest.Dial(t, storetest.RedisDatabase(t))
	p := New(nodes.Set{Client: client}.WithPatience(time.Minute), Options{OutboxCap: 10})
	image := redpacket.Image{Ref: redpacket.Ref{ID: "p", Partition: 5}, Count: 100, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	noError(t, p.Load(t.Context(), image))
	k := p.keys(image.Partition)
	users := 0
	grabs := func(want redpacket.Decision) {
		t.Helper()
		users++
		got, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: image.Ref, User: fmt.Sprint("u", users)}})
		if err != nil || got[0].Decision != want {
			t.Fatalf("decision %d, %v, want %d", got[0].Decision, err, want)
		}
	}
	grabAll(t, p, image, "a", "b", "c")
	grabAll(t, p, image, "d")
	for _, drift := range []struct {
		name string
		make func(ctx context.Context) error
		want string
	}{
		{"too high", func(ctx context.Context) error { return client.Set(ctx, k.held, 10, 0).Err() }, "4"},
		{"too low", func(ctx context.Context) error { return client.Set(ctx, k.held, -7, 0).Err() }, "4"},
		{"no number", func(ctx context.Context) error { return client.Set(ctx, k.held, "many", 0).Err() }, "4"},
		{"gone", func(ctx context.Context) error { return client.Del(ctx, k.held).Err() }, "4"},
		{"foreign entries", func(ctx context.Context) error {
			return client.ZAdd(ctx, k.out, redis.Z{Member: "neither time nor"}, redis.Z{Member: "1 " + k.image + "p"},
				redis.Z{Member: "2 " + k.image + "p user share"}, redis.Z{Member: "3 p user 3"}, redis.Z{Member: ""}).Err()
		}, "4"},
		{"an entry is gone", func(ctx context.Context) error {
			return client.ZRem(ctx, k.out, client.ZRange(ctx, k.out, -2, -2).Val()).Err() // the last member is a placeholder
		}, "3"},
		{"the outbox is gone", func(ctx context.Context) error { return client.Del(ctx, k.out).Err() }, "0"},
	} {
		noError(t, drift.make(t.Context()))
		if drift.name == "too high" {
			grabs(redpacket.Busy)
		}
		for range 2 {
			noError(t, p.Recount(t.Context(), image.Partition, 6))
			if got := client.Get(t.Context(), k.held).Val(); got != drift.want {
				t.Errorf("%s: %s claims are counted, want %s", drift.name, got, drift.want)
			}
		}
	}
	for range 10 {
		grabs(redpacket.Granted)
	}
	grabs(redpacket.Busy)
}

// TestRecountOfManyEntries checks that a recount counts an outbox of several pages completely.
func TestRecountOfManyEntries(t *testing.T) {
	client := redistest.Dial(t, storetest.RedisDatabase(t))
	p := New(nodes.Set{Client: client}.WithPatience(time.Minute), Options{})
	k := p.keys(0)
	entries := make([]redis.Z, 2500)
	for i := range entries {
		entries[i] = redis.Z{Score: float64(i), Member: fmt.Sprintf("%d %sp u%d %d v%d %d", i, k.image, i, 2*i, i, 2*i+1)}
	}
	noError(t, client.ZAdd(t.Context(), k.out, entries...).Err())
	noError(t, p.Recount(t.Context(), 0))
	if got := client.Get(t.Context(), k.held).Val(); got != "5000" {
		t.Errorf("%s claims are counted, want 5000", got)
	}
}
