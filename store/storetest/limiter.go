package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
)

// LimiterUnderTest holds the limiters of two instances that share buckets.
type LimiterUnderTest struct {
	A, B chat.Limiter
	// Advance moves the engine's clock, which otherwise stands still. If it is nil, the suite waits for real time.
	Advance func(time.Duration)
}

// TestLimiter checks that an engine keeps the contract of chat.Limiter.
func TestLimiter(t *testing.T, open func(t *testing.T) LimiterUnderTest) {
	for _, test := range []struct {
		name string
		run  func(b *limiterBench)
	}{
		{"a burst passes, over both instances", limiterBurst},
		{"then the rate", limiterRate},
		{"the wait is right", limiterWait},
		{"a refusal costs nothing", limiterRefusal},
		{"no more than the burst is saved up", limiterIdle},
		{"keys are apart", limiterApart},
		{"another rate for the same key", limiterOtherRate},
		{"a cost of several tokens", limiterCost},
		{"never more than allowed", limiterCrowd},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(&limiterBench{LimiterUnderTest: open(t), T: t, begun: time.Now()})
		})
	}
}

// limiterBench holds an engine under test. Its helpers fail the test if the engine fails.
type limiterBench struct {
	LimiterUnderTest
	*testing.T
	begun time.Time // when the test began
}

func (b *limiterBench) take(l chat.Limiter, key string, r chat.Rate) time.Duration {
	b.Helper()
	wait, err := l.Take(context.Background(), key, r)
	noError(b, err)
	if wait < 0 {
		b.Fatalf("a wait of %v", wait)
	}
	return wait
}

// gives takes the tokens that a call costs, and fails the test if there are too few.
func (b *limiterBench) gives(l chat.Limiter, key string, r chat.Rate) {
	b.Helper()
	if wait := b.take(l, key, r); wait != 0 {
		b.Fatalf("no token of %s: wait %v", key, wait)
	}
}

// refuses tries to take the tokens that a call costs. There must be too few. The parameter most is the largest wait that is
// right. The wait may be shorter by the time for which the test has run, and by 10 ms.
func (b *limiterBench) refuses(l chat.Limiter, key string, r chat.Rate, most time.Duration) time.Duration {
	b.Helper()
	wait := b.take(l, key, r)
	const differ = 10 * time.Millisecond // the engine's clock may differ from the test's clock
	if least := most - time.Since(b.begun) - differ; wait > most || wait < least || wait == 0 {
		b.Fatalf("take of %s: wait %v, want %v to %v", key, wait, least, most)
	}
	return wait
}

// pass lets the time d pass on the engine's clock.
func (b *limiterBench) pass(d time.Duration) {
	if b.Advance != nil {
		b.Advance(d)
		return
	}
	<-time.After(d)
}

// slow is a rate so low that even a slow test gets no token beyond the burst.
var slow = chat.Rate{PerSecond: 1.0 / 60, Burst: 5}

func limiterBurst(b *limiterBench) {
	for i := range slow.Burst {
		b.gives([]chat.Limiter{b.A, b.B}[i%2], "k", slow)
	}
	b.refuses(b.A, "k", slow, time.Minute)
	b.refuses(b.B, "k", slow, time.Minute)
}

// limiterRate checks that a caller that waits as long as Take says gets a token each time. Beyond the burst, the tokens must
// come no faster than the rate.
func limiterRate(b *limiterBench) {
	r := chat.Rate{PerSecond: 20, Burst: 3}
	const more = 10
	const due = more * 50 * time.Millisecond
	start, waited := time.Now(), time.Duration(0)
	for range r.Burst {
		b.gives(b.A, "k", r)
	}
	for i := range more {
		l := []chat.Limiter{b.A, b.B}[i%2]
		if wait := b.take(l, "k", r); wait > 0 {
			waited += wait
			b.pass(wait)
			b.gives(l, "k", r)
		}
	}
	if b.Advance != nil && waited != due {
		b.Errorf("%d tokens took %v, want %v", more, waited, due)
	}
	if took := time.Since(start); b.Advance == nil && took < due-time.Millisecond { // the clocks differ
		b.Errorf("%d tokens took %v, want %v", more, took, due)
	}
}

func limiterWait(b *limiterBench) {
	const every = 10 * time.Second // so long that a busy machine gets no token by itself
	r := chat.Rate{PerSecond: 1 / every.Seconds(), Burst: 1}
	b.gives(b.A, "k", r)
	wait := b.refuses(b.A, "k", r, every)
	b.pass(wait / 20)
	again := b.take(b.B, "k", r)
	if again >= wait || again > wait*19/20 {
		b.Errorf("after a twentieth of %v the wait is %v", wait, again)
	}
	if b.Advance != nil {
		b.Advance(again)
		b.gives(b.B, "k", r)
	}
}

func limiterRefusal(b *limiterBench) {
	const every = 10 * time.Second // so long that a busy machine gets no token by itself
	r := chat.Rate{PerSecond: 1 / every.Seconds(), Burst: 1}
	b.gives(b.A, "k", r)
	var wait time.Duration
	for range 50 {
		wait = b.refuses(b.A, "k", r, every)
	}
	if b.Advance != nil {
		b.Advance(wait)
		b.gives(b.A, "k", r)
	}
}

func limiterIdle(b *limiterBench) {
	r := chat.Rate{PerSecond: 10, Burst: 2}
	b.gives(b.A, "k", r)
	b.gives(b.A, "k", r)
	b.pass(time.Second)
	start := time.Now()
	taken := 0
	for taken < 1000 && b.take(b.A, "k", r) == 0 {
		taken++
	}
	if most := r.Burst + int(time.Since(start).Seconds()*r.PerSecond); taken < r.Burst || taken > most {
		b.Errorf("after a long pause %d tokens, want %d to %d", taken, r.Burst, most)
	}
}

func limiterApart(b *limiterBench) {
	for _, key := range []string{"send:u", "grab:u", "send:v", "send:{u}", "send:ü 1", ""} {
		for range slow.Burst {
			b.gives(b.A, key, slow)
		}
		b.refuses(b.B, key, slow, time.Minute)
	}
}

// limiterOtherRate uses one key with different rates. A caller waits no longer than for an empty bucket of the new
// rate.
func limiterOtherRate(b *limiterBench) {
	for range slow.Burst {
		b.gives(b.A, "k", slow)
	}
	quick := chat.Rate{PerSecond: 10, Burst: 2}
	b.pass(b.refuses(b.A, "k", quick, 100*time.Millisecond))
	b.gives(b.B, "k", quick)
}

// limiterCost takes several tokens at once. A cost above the burst must empty a full bucket.
func limiterCost(b *limiterBench) {
	three, all := slow, slow
	three.Cost, all.Cost = 3, slow.Burst+1
	b.gives(b.A, "k", three)
	b.refuses(b.B, "k", three, time.Minute) // one token is missing
	b.gives(b.A, "k", slow)
	b.gives(b.B, "k", slow)
	b.refuses(b.A, "k", slow, time.Minute)
	b.gives(b.A, "l", all)
	b.refuses(b.B, "l", slow, time.Minute)
}

// limiterCrowd lets many callers on two instances take tokens at once. Together they must get at least the burst, and no
// more than the burst and the rate allow.
func limiterCrowd(b *limiterBench) {
	r := chat.Rate{PerSecond: 200, Burst: 20}
	var taken atomic.Int64
	var crowd sync.WaitGroup
	start := time.Now()
	for i := range 16 {
		l := []chat.Limiter{b.A, b.B}[i%2]
		crowd.Go(func() {
			for range 200 {
				wait, err := l.Take(context.Background(), "k", r)
				if err != nil {
					b.Error(err)
					return
				}
				if wait == 0 {
					taken.Add(1)
				}
			}
		})
	}
	crowd.Wait()
	most := float64(r.Burst)
	if b.Advance == nil {
		most += time.Since(start).Seconds() * r.PerSecond
	}
	if got := taken.Load(); got < int64(r.Burst) || float64(got) > most {
		b.Errorf("%d tokens, want %d to %.1f", got, r.Burst, most)
	}
}
