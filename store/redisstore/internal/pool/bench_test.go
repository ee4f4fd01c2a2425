package pool

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// BenchmarkPool measures granted grabs: on one packet or many, by one caller or several, with or without the ack that
// follows.
func BenchmarkPool(b *testing.B) {
	url := storetest.Redis(b).URL()
	for _, packets := range []int{1, 1000} {
		for _, callers := range []int{1, 20, 200} {
			for _, ack := range []bool{false, true} {
				name := map[bool]string{true: "hot", false: "many"}[packets == 1] + "/callers=" + strconv.Itoa(callers) +
					map[bool]string{true: "/grab+ack", false: "/grab"}[ack]
				b.Run(name, func(b *testing.B) { benchmarkGrabs(b, url, packets, callers, ack) })
			}
		}
	}
}

// BenchmarkPoolOpen measures grabs and acks while 1,000 or 100,000 packets are open.
func BenchmarkPoolOpen(b *testing.B) {
	url := storetest.Redis(b).URL()
	for _, open := range []int{1_000, 100_000} {
		b.Run("open="+strconv.Itoa(open), func(b *testing.B) { benchmarkGrabs(b, url, open, 200, true) })
	}
}

// BenchmarkPoolEval measures a plain EVALSHA of an empty script. A single caller's grab cannot be faster.
func BenchmarkPoolEval(b *testing.B) {
	client := redistest.Dial(b, storetest.Redis(b).URL())
	sha := client.ScriptLoad(b.Context(), "return 1").Val()
	for b.Loop() {
		noError(b, client.EvalSha(b.Context(), sha, []string{"k"}, "a").Err())
	}
}

func benchmarkGrabs(b *testing.B, url string, packets, callers int, ack bool) {
	client := redistest.Dial(b, url)
	forget(b, client)
	p := New(nodes.Set{Client: client}.WithPatience(time.Minute), Options{OutboxCap: 1 << 40})
	images := make([]redpacket.Image, packets)
	var wg sync.WaitGroup
	var loaded atomic.Int64
	for range min(packets, 50) {
		wg.Go(func() {
			for n := loaded.Add(1) - 1; n < int64(packets); n = loaded.Add(1) - 1 {
				images[n] = redpacket.Image{
					Ref:   redpacket.Ref{ID: "packet-" + strconv.Itoa(int(n)), Partition: int(n) % redpacket.Partitions},
					Count: 1 << 40, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open,
				}
				if err := p.Load(context.Background(), images[n]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.ReportAllocs()
	busy := redisCPU(b, client)
	b.ResetTimer()
	var next atomic.Int64
	for range callers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				a := redpacket.Attempt{Ref: images[int(n*7919)%packets].Ref, User: "user-" + strconv.Itoa(int(n))}
				got, err := p.Grab(context.Background(), []redpacket.Attempt{a})
				if err != nil || got[0].Decision != redpacket.Granted {
					b.Errorf("%+v %v", got, err)
					return
				}
				if ack {
					claim := redpacket.Claim{Ref: a.Ref, User: a.User, Share: got[0].Share, Entry: got[0].Entry}
					if err := p.Ack(context.Background(), []redpacket.Claim{claim}); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "grabs/s")
	b.ReportMetric((redisCPU(b, client)-busy)*1e6/float64(b.N), "redis-µs/op") // CPU time of Redis: independent of the machine's load
}

// redisCPU returns the CPU time of the server in seconds.
func redisCPU(b *testing.B, client redis.UniversalClient) (seconds float64) {
	b.Helper()
	info := client.Info(context.Background(), "cpu").Val()
	for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
		s, err := strconv.ParseFloat(redistest.Field(info, name), 64)
		noError(b, err)
		seconds += s
	}
	return seconds
}
