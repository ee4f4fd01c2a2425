package redpacket

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

// TestProgressOfSeveralInstances: together they tell five times a second, and at last how it is.
func TestProgressOfSeveralInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := &spacing{}
		var heard [3]shouts
		var instances [3]progress
		for i := range instances {
			instances[i] = progress{pub: &heard[i], limiter: limiter, packets: map[string]*tally{}}
		}
		m := newMemory(1 << 20)
		const claims = 600
		for n := range claims { // for three seconds
			i := n % len(instances)
			k := m.put(Packet{Ref: Ref{ID: "p"}, Count: claims})
			instances[i].note(k, n+1, "user")
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		told, last := 0, 0
		for i := range heard {
			instances[i].mu.Lock()
			told += heard[i].told
			last = max(last, heard[i].last.Claimed)
			if len(instances[i].packets) > 0 {
				t.Error("a packet is not forgotten")
			}
			instances[i].mu.Unlock()
		}
		if told < 10 || told > 20 {
			t.Errorf("told %d times in three seconds, want about 15", told)
		}
		if last != claims {
			t.Errorf("the last word was %d of %d", last, claims)
		}
	})
}

// TestProgressOfManyShares: the more there are, the more room there is to tell, and the less often it is told.
func TestProgressOfManyShares(t *testing.T) {
	for shares, want := range map[int]int{1: 5, 800: 5, 2_000: 2, 4_000: 1, 100_000: 1} { // times a second
		synctest.Test(t, func(t *testing.T) {
			var heard shouts
			p := progress{pub: &heard, packets: map[string]*tally{}}
			k := newMemory(1 << 20).put(Packet{Ref: Ref{ID: "p"}, Count: shares})
			const seconds = 10
			for n := range seconds * 1000 {
				p.note(k, n+1, "user")
				time.Sleep(time.Millisecond)
			}
			p.end("p")
			p.mu.Lock()
			defer p.mu.Unlock()
			if told := float64(heard.told) / seconds; told < 0.8*float64(want) || told > 1.2*float64(want) {
				t.Errorf("%d shares: told %.1f times a second, want %d", shares, told, want)
			}
		})
	}
}

// spacing is a limiter for rates without bursts.
type spacing struct {
	mu   sync.Mutex
	free time.Time
}

func (s *spacing) Take(_ context.Context, _ string, r chat.Rate) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if wait := s.free.Sub(now); wait > 0 {
		return wait, nil
	}
	s.free = now.Add(time.Duration(float64(time.Second) / r.PerSecond))
	return 0, nil
}

// shouts counts what is told.
type shouts struct {
	told int
	last Progress
}

func (s *shouts) Entry(chat.Entry) { s.told++ }

func (s *shouts) ToRoom(_ string, e chat.Event) {
	s.told++
	s.last = e.(Progress)
}
func (s *shouts) ToUser(string, chat.Event) { s.told++ }

func (*shouts) Moved(string, string) {}

// TestNoProgressAfterTheEnd: a claim was committed before the end, but whoever settled it comes to say so only
// after the end was told.
func TestNoProgressAfterTheEnd(t *testing.T) {
	var heard shouts
	p := progress{pub: &heard, packets: map[string]*tally{}}
	m := newMemory(1 << 20)
	k := m.put(Packet{Ref: Ref{ID: "p"}, Count: 2})
	p.note(k, 1, "ann")
	if heard.told != 1 {
		t.Fatalf("%d words about the first claim", heard.told)
	}
	m.finish(Book{Packet: k.packet, Status: Drained})
	p.end("p")
	p.note(k, 2, "bob")
	if heard.told != 1 || len(p.packets) > 0 {
		t.Errorf("%d words, %d packets counted after the end", heard.told-1, len(p.packets))
	}
}
