package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	testLimiterManualClock(t, storetest.RedisDatabase(t))
}

func TestLimiterCluster(t *testing.T) {
	t.Parallel()
	testLimiterManualClock(t, storetest.RedisCluster(t).URL())
}

// testLimiterManualClock runs the tests of chat.Limiter's contract. The script has a fixed time in place of the TIME command. The
// time is a day ahead of the real one, so that Redis lets no key expire.
func testLimiterManualClock(t *testing.T, url string) {
	storetest.TestLimiter(t, func(t *testing.T) storetest.LimiterUnderTest {
		client := redistest.Dial(t, url)
		redistest.ForgetKeys(t, client, "rate:*")
		a, b := patientLimiter(client), patientLimiter(redistest.Dial(t, url))
		now := time.Now().Add(24 * time.Hour)
		set := func() {
			at := fmt.Sprintf("{'%d', '%d'}", now.Unix(), now.Nanosecond()/1000)
			a.script = nodes.NewScript(strings.Replace(limiterText, "redis.call('TIME')", at, 1))
			b.script = a.script
		}
		set()
		return storetest.LimiterUnderTest{A: a, B: b, Advance: func(d time.Duration) {
			now = now.Add(d)
			set()
		}}
	})
}

// TestLimiterByTheClock runs the tests of chat.Limiter's contract with the unchanged script and the real clock.
func TestLimiterByTheClock(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel() // it waits for tokens
	for name, url := range map[string]string{"single": storetest.RedisDatabase(t), "cluster": redistest.PartialCluster(t).URL()} {
		t.Run(name, func(t *testing.T) {
			storetest.TestLimiter(t, func(t *testing.T) storetest.LimiterUnderTest {
				a, b := redistest.Dial(t, url), redistest.Dial(t, url)
				redistest.ForgetKeys(t, a, "rate:*")
				return storetest.LimiterUnderTest{A: newLimiter(a), B: newLimiter(b)}
			})
		})
	}
}

// patientLimiter returns a limiter whose calls do not fail on a busy machine.
func patientLimiter(client redis.UniversalClient) *limiter {
	l := newLimiter(client)
	l.wait = time.Minute
	return l
}

// TestLimiterKeysEnd checks that the key of a full bucket expires.
func TestLimiterKeysEnd(t *testing.T) {
	t.Parallel() // it waits for keys to expire
	client := redistest.Dial(t, storetest.RedisDatabase(t))
	l := patientLimiter(client)
	for i := range 100 {
		if wait, err := l.Take(t.Context(), fmt.Sprint("k", i), chat.Rate{PerSecond: 10, Burst: 2}); err != nil || wait != 0 {
			t.Fatal(wait, err)
		}
	}
	if wait, err := l.Take(t.Context(), "slow", chat.Rate{PerSecond: 0.1, Burst: 2}); err != nil || wait != 0 {
		t.Fatal(wait, err)
	}
	if ttl := client.PTTL(t.Context(), "rate:slow").Val(); ttl <= 0 || ttl > 10_001*time.Millisecond {
		t.Errorf("a bucket that is full in ten seconds is kept for %v", ttl)
	}
	noError(t, client.Del(t.Context(), "rate:slow").Err())
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); client.DBSize(t.Context()).Val() > 0; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%d keys are left", client.DBSize(t.Context()).Val())
		}
	}
}

// TestLimiterOutage checks that a call without a reply ends in time and has taken at most one token.
func TestLimiterOutage(t *testing.T) {
	t.Parallel() // it waits for timeouts
	server := storetest.Redis(t)
	proxy, err := loopback.StartProxy(server.Addr())
	noError(t, err)
	t.Cleanup(proxy.Close)
	through, direct := patientLimiter(redistest.Dial(t, "redis://"+proxy.Addr()+"/0")), patientLimiter(redistest.Dial(t, server.URL()))
	takes(t, through, 1)
	through.wait = limiterWait
	proxy.DropReplies(true)
	unanswered := map[string]func() error{"take": func() error { _, err := through.Take(t.Context(), "k", four); return err }}
	redistest.WantUnavailable(t, unanswered)
	if left := tokensLeft(t, direct); left < 2 || left > 3 || left > 2 && enginetest.Tonight("waits") {
		t.Errorf("%d tokens are left, want 2, or 3 if a busy machine did not send the call in time", left)
	}
	server.Kill()
	redistest.WantUnavailable(t, unanswered)
}

// four is a bucket of four tokens that practically never refills.
var four = chat.Rate{PerSecond: 0.001, Burst: 4}

func takes(t *testing.T, l *limiter, tokens int) {
	t.Helper()
	for range tokens {
		if wait, err := l.Take(t.Context(), "k", four); err != nil || wait != 0 {
			t.Fatalf("wait %v, %v", wait, err)
		}
	}
}

// takesLast checks that the bucket holds exactly this many tokens.
func takesLast(t *testing.T, l *limiter, tokens int) {
	t.Helper()
	takes(t, l, tokens)
	if wait, err := l.Take(t.Context(), "k", four); err != nil || wait == 0 {
		t.Errorf("a token more than the bucket holds: wait %v, %v", wait, err)
	}
}

// tokensLeft takes all tokens of the bucket, and returns how many it held.
func tokensLeft(t *testing.T, l *limiter) (tokens int) {
	t.Helper()
	for ; ; tokens++ {
		switch wait, err := l.Take(t.Context(), "k", four); {
		case err != nil:
			t.Fatal(err)
		case wait > 0:
			return tokens
		}
	}
}

// TestLimiterAnswerLost checks that a call is not repeated when its reply is lost with the connection. A repetition
// would take another token. A cluster's client repeats commands by default.
func TestLimiterAnswerLost(t *testing.T) {
	t.Parallel()                                                       // it waits for a cluster
	single, cluster := storetest.Redis(t), redistest.PartialCluster(t) // others take tokens of the shared ones
	var lose atomic.Bool
	dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return lossyConn{conn, &lose}, err
	}
	for name, client := range map[string]redis.UniversalClient{
		"single":  redis.NewClient(&redis.Options{Addr: single.Addr(), Dialer: dialer}),
		"cluster": redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{cluster.Nodes()[0].Addr()}, Dialer: dialer}),
	} {
		t.Run(name, func(t *testing.T) {
			defer client.Close()
			redistest.ForgetKeys(t, client, "rate:*")
			l := patientLimiter(client)
			takes(t, l, 1)
			lose.Store(true)
			if wait, err := l.Take(t.Context(), "k", four); !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("the reply was lost: wait %v, %v; want unavailable", wait, err)
			}
			if lose.Load() {
				t.Error("no reply was lost")
			}
			takesLast(t, l, 2)
		})
	}
}

// lossyConn is a connection that closes instead of returning the next reply, if lose is set.
type lossyConn struct {
	net.Conn
	lose *atomic.Bool
}

func (c lossyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.lose.CompareAndSwap(true, false) {
		_ = c.Close()
		return 0, io.EOF
	}
	return n, err
}

// TestLimiterClock writes a bucket with a clock that is an hour ahead, as a lost master may have done. A caller must
// wait no longer than for an empty bucket.
func TestLimiterClock(t *testing.T) {
	client := redistest.Dial(t, storetest.RedisDatabase(t))
	ahead := time.Now().Add(time.Hour).UnixMicro()
	noError(t, client.Set(t.Context(), "rate:k", ahead, 2*time.Hour).Err())
	l := patientLimiter(client)
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
	l := newLimiter(redistest.Dial(b, storetest.SharedRedis(b).URL()))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := l.Take(context.Background(), "k", chat.Rate{PerSecond: 10, Burst: 20}); err != nil {
				b.Error(err)
			}
		}
	})
}
