package redpacket

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/trace"
)

// TestProgressOfSeveralInstances counts claims of one packet on several instances. Together they must publish about
// five times a second, and the last publication must have the final count.
func TestProgressOfSeveralInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := &spacedLimiter{}
		var published [3]eventCounter
		var instances [3]progress
		for i := range instances {
			instances[i] = progress{pub: &published[i], limiter: limiter, packets: map[string]*tally{}}
		}
		m := newMemory(1 << 20)
		const claims = 600
		for n := range claims { // takes three seconds
			i := n % len(instances)
			k := m.put(Packet{Ref: Ref{ID: "p"}, Count: claims})
			instances[i].add(k, n+1, "user", trace.Link{})
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		count, last := 0, 0
		for i := range published {
			instances[i].mu.Lock()
			count += published[i].count
			last = max(last, published[i].last.Claimed)
			if len(instances[i].packets) > 0 {
				t.Error("a packet is not forgotten")
			}
			instances[i].mu.Unlock()
		}
		if count < 10 || count > 20 {
			t.Errorf("published %d times in three seconds, want about 15", count)
		}
		if last != claims {
			t.Errorf("the last publication was %d of %d", last, claims)
		}
	})
}

// TestProgressOfManyShares counts claims of packets of different sizes. The more shares a packet has, the less often
// its progress must be published.
func TestProgressOfManyShares(t *testing.T) {
	for shares, want := range map[int]int{1: 5, 800: 5, 2_000: 2, 4_000: 1, 100_000: 1} { // by shares: publications a second
		synctest.Test(t, func(t *testing.T) {
			var published eventCounter
			p := progress{pub: &published, packets: map[string]*tally{}}
			k := newMemory(1 << 20).put(Packet{Ref: Ref{ID: "p"}, Count: shares})
			const seconds = 10
			for n := range seconds * 1000 {
				p.add(k, n+1, "user", trace.Link{})
				time.Sleep(time.Millisecond)
			}
			p.end("p")
			p.mu.Lock()
			defer p.mu.Unlock()
			if rate := float64(published.count) / seconds; rate < 0.8*float64(want) || rate > 1.2*float64(want) {
				t.Errorf("%d shares: published %.1f times a second, want %d", shares, rate, want)
			}
		})
	}
}

// spacedLimiter is a Limiter with one bucket for all keys. It allows single calls at the given rate, and no bursts.
type spacedLimiter struct {
	mu   sync.Mutex
	free time.Time
}

func (s *spacedLimiter) Take(_ context.Context, _ string, r chat.Rate) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if wait := s.free.Sub(now); wait > 0 {
		return wait, nil
	}
	s.free = now.Add(time.Duration(float64(time.Second) / r.PerSecond))
	return 0, nil
}

// eventCounter is a publisher that counts events and keeps the last one.
type eventCounter struct {
	count int
	last  Progress
}

func (s *eventCounter) Entry(chat.Entry) { s.count++ }

func (s *eventCounter) ToRoom(_ string, e chat.Event) {
	s.count++
	s.last = e.(Progress)
}
func (s *eventCounter) ToUser(string, chat.Event) { s.count++ }

func (*eventCounter) StandingChanged(string, string) {}

// TestNoProgressAfterTheEnd calls add, for a claim that was committed before the packet's end, only after that end was
// published. No progress may be published.
func TestNoProgressAfterTheEnd(t *testing.T) {
	var published eventCounter
	p := progress{pub: &published, packets: map[string]*tally{}}
	m := newMemory(1 << 20)
	k := m.put(Packet{Ref: Ref{ID: "p"}, Count: 2})
	p.add(k, 1, "ann", trace.Link{})
	if published.count != 1 {
		t.Fatalf("published %d times after the first claim", published.count)
	}
	m.finish(Book{Packet: k.packet, Status: Drained})
	p.end("p")
	p.add(k, 2, "bob", trace.Link{})
	if published.count != 1 || len(p.packets) > 0 {
		t.Errorf("published %d times, %d packets counted after the end", published.count-1, len(p.packets))
	}
}
