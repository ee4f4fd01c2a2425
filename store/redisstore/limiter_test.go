package redisstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

func TestLimiter(t *testing.T) {
	t.Parallel() // it waits for tokens
	testLimiter(t, storetest.Redis(t).URL())
}

func TestLimiterCluster(t *testing.T) {
	t.Parallel()
	testLimiter(t, storetest.RedisCluster(t).URL())
}

func testLimiter(t *testing.T, url string) {
	storetest.TestLimiter(t, func(t *testing.T) storetest.LimiterUnderTest {
		a, b := dial(t, url), dial(t, url)
		forgetKeys(t, a, "rate:*")
		return storetest.LimiterUnderTest{A: newLimiter(a), B: newLimiter(b)}
	})
}

// TestLimiterKeysEnd: a bucket that is full again is no key any more.
func TestLimiterKeysEnd(t *testing.T) {
	client := dial(t, storetest.Redis(t).URL())
	l := newLimiter(client)
	for i := range 100 {
		if wait, err := l.Take(t.Context(), fmt.Sprint("k", i), chat.Rate{PerSecond: 10, Burst: 2}); err != nil || wait != 0 {
			t.Fatal(wait, err)
		}
	}
	if ttl := client.PTTL(t.Context(), "rate:k99").Val(); ttl <= 0 || ttl > 101*time.Millisecond {
		t.Errorf("a bucket that is full in a tenth of a second is kept for %v", ttl)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Second); client.DBSize(t.Context()).Val() > 0; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%d keys are left", client.DBSize(t.Context()).Val())
		}
	}
}

// TestLimiterOutage: a call without an answer is not made again, for it takes a token each time.
func TestLimiterOutage(t *testing.T) {
	server := storetest.Redis(t)
	proxy, err := loopback.StartProxy(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	rate := chat.Rate{PerSecond: 0.001, Burst: 4}
	take := func(l *limiter) error {
		wait, err := l.Take(context.Background(), "k", rate)
		if err == nil && wait != 0 {
			t.Fatalf("no token is left: wait %v", wait)
		}
		return err
	}
	direct, through := newLimiter(dial(t, server.URL())), newLimiter(dial(t, "redis://"+proxy.Addr()+"/0"))
	if err := take(through); err != nil {
		t.Fatal(err)
	}
	proxy.DropReplies(true)
	outage(t, map[string]func() error{"take": func() error { return take(through) }})
	for range 2 {
		if err := take(direct); err != nil {
			t.Fatal(err)
		}
	}
	if wait, err := direct.Take(t.Context(), "k", rate); err != nil || wait == 0 {
		t.Errorf("after 4 takes of 4: wait %v, %v", wait, err)
	}
	server.Kill()
	outage(t, map[string]func() error{"take": func() error { return take(direct) }})
}

// TestLimiterClock: a clock that was ahead, of a master that is gone, blocks nobody for longer than an empty bucket.
func TestLimiterClock(t *testing.T) {
	client := dial(t, storetest.Redis(t).URL())
	ahead := time.Now().Add(time.Hour).UnixMicro()
	if err := client.Set(t.Context(), "rate:k", ahead, 2*time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	l := newLimiter(client)
	wait, err := l.Take(t.Context(), "k", chat.Rate{PerSecond: 10, Burst: 5})
	if err != nil || wait > 100*time.Millisecond {
		t.Fatalf("wait %v, %v", wait, err)
	}
	<-time.After(wait)
	if wait, err := l.Take(t.Context(), "k", chat.Rate{PerSecond: 10, Burst: 5}); err != nil || wait != 0 {
		t.Errorf("after that: wait %v, %v", wait, err)
	}
}

func BenchmarkLimiterTake(b *testing.B) {
	l := newLimiter(dial(b, storetest.SharedRedis(b).URL()))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := l.Take(context.Background(), "k", chat.Rate{PerSecond: 10, Burst: 20}); err != nil {
				b.Error(err)
			}
		}
	})
}
