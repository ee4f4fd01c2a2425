package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

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

// TestLimiterOutage: a call that gets no answer ends in time, and has taken one token at most.
func TestLimiterOutage(t *testing.T) {
	server := storetest.Redis(t)
	proxy, err := loopback.StartProxy(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	through, direct := newLimiter(dial(t, "redis://"+proxy.Addr()+"/0")), newLimiter(dial(t, server.URL()))
	takes(t, through, 1)
	proxy.DropReplies(true)
	unanswered := map[string]func() error{"take": func() error { _, err := through.Take(t.Context(), "k", four); return err }}
	outage(t, unanswered)
	takesLast(t, direct, 2)
	server.Kill()
	outage(t, unanswered)
}

// four are four tokens and no more.
var four = chat.Rate{PerSecond: 0.001, Burst: 4}

func takes(t *testing.T, l *limiter, tokens int) {
	t.Helper()
	for range tokens {
		if wait, err := l.Take(t.Context(), "k", four); err != nil || wait != 0 {
			t.Fatalf("wait %v, %v", wait, err)
		}
	}
}

// takesLast wants so many tokens, and then no more.
func takesLast(t *testing.T, l *limiter, tokens int) {
	t.Helper()
	takes(t, l, tokens)
	if wait, err := l.Take(t.Context(), "k", four); err != nil || wait == 0 {
		t.Errorf("one more than there are: wait %v, %v", wait, err)
	}
}

// TestLimiterAnswerLost: a call whose answer is lost with its connection is not made again, for it would take
// another token; not even by a cluster's client, which repeats what it likes.
func TestLimiterAnswerLost(t *testing.T) {
	single, cluster := storetest.Redis(t), storetest.RedisCluster(t)
	var lose atomic.Bool
	dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return forgetful{conn, &lose}, err
	}
	for name, client := range map[string]redis.UniversalClient{
		"single":  redis.NewClient(&redis.Options{Addr: single.Addr(), Dialer: dialer}),
		"cluster": redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{cluster.Nodes()[0].Addr()}, Dialer: dialer}),
	} {
		t.Run(name, func(t *testing.T) {
			defer client.Close()
			forgetKeys(t, client, "rate:*")
			l := newLimiter(client)
			takes(t, l, 1)
			lose.Store(true)
			if wait, err := l.Take(t.Context(), "k", four); !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("no answer came, and yet: wait %v, %v", wait, err)
			}
			if lose.Load() {
				t.Error("nothing was lost")
			}
			takesLast(t, l, 2)
		})
	}
}

// forgetful is a connection that breaks in the moment an answer comes, once it is told to.
type forgetful struct {
	net.Conn
	lose *atomic.Bool
}

func (c forgetful) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.lose.CompareAndSwap(true, false) {
		_ = c.Close()
		return 0, io.EOF
	}
	return n, err
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
