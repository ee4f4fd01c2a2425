package trail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// memory is a Store that may fail.
type memory struct {
	Store

	mu    sync.Mutex // guards the following
	fails error
	rows  []Refusal
	met   []SocketEvent
	drops int
	old   int // rows that DropRefusals still finds
}

func (m *memory) AddRefusals(_ context.Context, refusals []Refusal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails == nil {
		m.rows = append(m.rows, refusals...)
	}
	return m.fails
}

func (m *memory) DropRefusals(_ context.Context, before time.Time, most, limit int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drops++; most != Most || !before.Equal(time.Now().Add(-Keep)) {
		return 0, fmt.Errorf("before %v, at most %d", before, most)
	}
	n := min(m.old, limit)
	m.old -= n
	return n, nil
}

func (m *memory) AddSockets(_ context.Context, events []SocketEvent) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.met = append(m.met, events...)
	return nil
}

func (m *memory) DropSockets(context.Context, time.Time, int, int) (int, error) { return 0, nil }

func (m *memory) stored() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.rows)
}

// inBubble runs a test with a recorder whose Run has started, on a fake clock.
func inBubble(t *testing.T, run func(m *memory, r *Recorder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		r := NewRecorder(m, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		run(m, r)
		cancel()
		running.Wait()
	})
}

// pass lets time pass on the fake clock.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestFirstRefusalIsWrittenOnce(t *testing.T) {
	inBubble(t, func(m *memory, r *Recorder) {
		began := time.Now()
		for range 1000 {
			r.Refused("bob", "p", "empty")
		}
		r.Refused("bob", "p", "forbidden field=passphrase")
		r.Refused("cyn", "p", "empty")
		pass(time.Second)
		if m.stored() != 3 || m.rows[0] != (Refusal{User: "bob", Packet: "p", At: began, Why: "empty"}) {
			t.Errorf("stored %+v", m.rows)
		}
	})
}

func TestQueueIsBoundedAndDropsAreCounted(t *testing.T) {
	inBubble(t, func(m *memory, r *Recorder) {
		for i := range maxQueue + 1000 {
			r.Refused(fmt.Sprint("u", i), "p", "empty")
		}
		if _, dropped := r.Refusals(); dropped != 1000 {
			t.Errorf("%d dropped, want 1000", dropped)
		}
		pass(10 * time.Second)
		if n := m.stored(); n != 20*perRound {
			t.Errorf("%d rows after 10 s, want %d", n, 20*perRound)
		}
		pass(3 * time.Minute)
		if written, _ := r.Refusals(); m.stored() != maxQueue || written != maxQueue {
			t.Errorf("%d rows at the end, want %d", m.stored(), maxQueue)
		}
	})
}

func TestOneUserIsBounded(t *testing.T) {
	inBubble(t, func(m *memory, r *Recorder) {
		for i := range 300 {
			r.Refused("eve", fmt.Sprint("p", i), "empty")
		}
		r.Refused("bob", "p", "empty")
		pass(time.Second)
		if _, dropped := r.Refusals(); m.stored() != perUser+1 || dropped != 200 {
			t.Errorf("%d rows, %d dropped; want %d of eve and one of bob", m.stored(), dropped, perUser)
		}
		pass(time.Hour)
		r.Refused("eve", "another", "empty")
		pass(time.Second)
		if m.stored() != perUser+2 {
			t.Errorf("%d rows an hour later, want one more", m.stored())
		}
	})
}

func TestOutageDropsAndEnds(t *testing.T) {
	inBubble(t, func(m *memory, r *Recorder) {
		m.mu.Lock()
		m.fails = errors.New("outage")
		m.mu.Unlock()
		r.Refused("bob", "p", "empty")
		pass(time.Second)
		m.mu.Lock()
		m.fails = nil
		m.mu.Unlock()
		r.Refused("bob", "q", "empty")
		pass(time.Second)
		if _, dropped := r.Refusals(); dropped != 1 || m.stored() != 1 {
			t.Errorf("%d dropped, stored %+v", dropped, m.rows)
		}
	})
}

func TestSocketsAreWrittenWithTheirEnds(t *testing.T) {
	inBubble(t, func(m *memory, r *Recorder) {
		began := time.Now()
		r.SocketOpened("bob", "s1")
		r.SocketOpened("bob", "s2")
		pass(time.Second)
		r.SocketEnded("bob", "s1", 3008, false)
		r.SocketEnded("bob", "s2", 0, true)
		r.SocketEnded("cyn", "s3", 0, false)
		r.SocketEnded("cyn", "s4", 3001, true)
		pass(time.Second)
		later := began.Add(time.Second)
		want := []SocketEvent{
			{User: "bob", Socket: "s1", At: began, What: SocketOpened}, {User: "bob", Socket: "s2", At: began, What: SocketOpened},
			{User: "bob", Socket: "s1", At: later, What: SocketClosed, Code: 3008}, {User: "bob", Socket: "s2", At: later, What: SocketLeft},
			{User: "cyn", Socket: "s3", At: later, What: SocketLost}, {User: "cyn", Socket: "s4", At: later, What: SocketLeft},
		}
		if !slices.Equal(m.met, want) {
			t.Errorf("stored %+v, want %+v", m.met, want)
		}
		refused, _ := r.Refusals()
		if written, dropped := r.Sockets(); refused != 0 || written != 6 || dropped != 0 {
			t.Errorf("%d refusals, %d events of sockets written, %d dropped; want 6 events", refused, written, dropped)
		}
	})
}

func TestAllRowsAreWrittenAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		r := NewRecorder(m, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range 3*perRound + 1 {
			r.SocketEnded(fmt.Sprint("u", i), "s", 3001, false)
		}
		r.Run(ctx)
		if n := len(m.met); n != 3*perRound+1 {
			t.Errorf("%d rows, want all", n)
		}
	})
}

func TestOldRowsAreDeletedInSteps(t *testing.T) {
	inBubble(t, func(m *memory, _ *Recorder) {
		m.mu.Lock()
		m.old = 2500
		m.mu.Unlock()
		pass(dropEvery + time.Second)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.old != 0 || m.drops != 3 {
			t.Errorf("%d rows left after %d steps", m.old, m.drops)
		}
	})
}

// BenchmarkRefusedAgain measures what a repeated refusal costs the answer.
func BenchmarkRefusedAgain(b *testing.B) {
	r := NewRecorder(&memory{}, time.Now, slog.New(slog.DiscardHandler))
	for b.Loop() {
		r.Refused("u-12345678", "01a214d4-040b-7bd2-a7a8-92ae47770485", "empty")
	}
}

// BenchmarkRefusedFirst measures what the first refusal of a user at a packet costs the answer. The queue is emptied without writes.
func BenchmarkRefusedFirst(b *testing.B) {
	r := NewRecorder(&memory{}, time.Now, slog.New(slog.DiscardHandler))
	users := make([]string, 1<<17)
	for i := range users {
		users[i] = fmt.Sprint("u-", 10_000_000+i)
	}
	for i := 0; b.Loop(); i++ {
		r.Refused(users[i&(len(users)-1)], "01a214d4-040b-7bd2-a7a8-92ae47770485", "empty")
		if i&0x7fff == 0 {
			r.refusals.mu.Lock()
			r.refusals.queue = r.refusals.queue[:0]
			r.refusals.mu.Unlock()
		}
	}
}
