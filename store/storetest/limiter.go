package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
)

// LimiterUnderTest is two instances' limiters on one engine.
type LimiterUnderTest struct {
	A, B chat.Limiter
	// Advance moves the engine's clock, which stands still otherwise; nil: real time, which the suite waits for.
	Advance func(time.Duration)
}

// TestLimiter runs the contract of chat.Limiter against an engine.
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
		{"never more than allowed", limiterCrowd},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(&limiterBench{LimiterUnderTest: open(t), T: t})
		})
	}
}

// limiterBench is the bench an engine lies on: a call that the engine fails, fails the test.
type limiterBench struct {
	LimiterUnderTest
	*testing.T
}

func (b *limiterBench) take(l chat.Limiter, key string, r chat.Rate) time.Duration {
	b.Helper()
	wait, err := l.Take(context.Background(), key, r)
	if err != nil {
		b.Fatal(err)
	}
	if wait < 0 {
		b.Fatalf("a wait of %v", wait)
	}
	return wait
}

// gives wants a token.
func (b *limiterBench) gives(l chat.Limiter, key string, r chat.Rate) {
	b.Helper()
	if wait := b.take(l, key, r); wait != 0 {
		b.Fatalf("no token of %s: wait %v", key, wait)
	}
}

// refuses wants none, and a wait of at most this, and not much less.
func (b *limiterBench) refuses(l chat.Limiter, key string, r chat.Rate, most time.Duration) time.Duration {
	b.Helper()
	wait := b.take(l, key, r)
	if wait > most || wait < most/3 {
		b.Fatalf("take of %s: wait %v, want up to %v", key, wait, most)
	}
	return wait
}

// pass lets time pass.
func (b *limiterBench) pass(d time.Duration) {
	if b.Advance != nil {
		b.Advance(d)
		return
	}
	<-time.After(d)
}

// slow is a rate at which a test that takes long still gets nothing for it.
var slow = chat.Rate{PerSecond: 1.0 / 60, Burst: 5}

func limiterBurst(b *limiterBench) {
	for i := range slow.Burst {
		b.gives([]chat.Limiter{b.A, b.B}[i%2], "k", slow)
	}
	b.refuses(b.A, "k", slow, time.Minute)
	b.refuses(b.B, "k", slow, time.Minute)
}

// limiterRate: who waits as he is told gets a token each time, and no sooner than the rate has it.
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
	if took := time.Since(start); b.Advance == nil && took < due-time.Millisecond { // clocks differ
		b.Errorf("%d tokens took %v, want %v", more, took, due)
	}
}

func limiterWait(b *limiterBench) {
	r := chat.Rate{PerSecond: 1, Burst: 1}
	b.gives(b.A, "k", r)
	wait := b.refuses(b.A, "k", r, time.Second)
	b.pass(wait / 4)
	if again := b.take(b.B, "k", r); again >= wait || again > wait*3/4 {
		b.Errorf("after a quarter of %v the wait is %v", wait, again)
	} else {
		b.pass(again)
	}
	b.gives(b.B, "k", r)
}

func limiterRefusal(b *limiterBench) {
	r := chat.Rate{PerSecond: 1, Burst: 1}
	b.gives(b.A, "k", r)
	var wait time.Duration
	for range 50 {
		wait = b.refuses(b.A, "k", r, time.Second)
	}
	b.pass(wait)
	b.gives(b.A, "k", r)
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

// limiterOtherRate: settings may change while keys are in use. A bucket is never emptier than empty.
func limiterOtherRate(b *limiterBench) {
	for range slow.Burst {
		b.gives(b.A, "k", slow)
	}
	quick := chat.Rate{PerSecond: 10, Burst: 2}
	b.pass(b.refuses(b.A, "k", quick, 100*time.Millisecond))
	b.gives(b.B, "k", quick)
}

// limiterCrowd: many takers on two instances get the burst and the rate, whatever they do at once.
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
