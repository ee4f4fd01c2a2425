package hub_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
	"hongbao/store/memstore"
)

// listener is a Peers that records.
type listener struct {
	mu    sync.Mutex
	heard []string
}

func (l *listener) Notice(data []byte) { l.note(string(data)) }
func (l *listener) Deaf(deaf bool)     { l.note(fmt.Sprint("deaf ", deaf)) }

func (l *listener) note(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, s)
}

// take gives what was heard since the last take.
func (l *listener) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard := l.heard
	l.heard = nil
	return heard
}

// startListening is start with a listener.
func startListening(t *testing.T, o hub.Options) (*hub.Hub, *listener) {
	l := &listener{}
	h := hub.New(o)
	h.SetPeers(l)
	run(t, h)
	return h, l
}

func TestNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := memstore.NewBroker()
		var hubs []*hub.Hub
		var ears []*listener
		for range 3 {
			o := newStore().options()
			o.Bus = broker.Endpoint()
			h, l := startListening(t, o)
			hubs, ears = append(hubs, h), append(ears, l)
		}
		synctest.Wait()
		for i, ear := range ears {
			if got, want := ear.take(), []string{"deaf true", "deaf false"}; !slices.Equal(got, want) {
				t.Errorf("%d heard %q, want %q", i, got, want)
			}
		}
		for i := range 3 {
			hubs[0].Notify(fmt.Append(nil, i))
		}
		synctest.Wait()
		for i, want := range [][]string{nil, {"0", "1", "2"}, {"0", "1", "2"}} {
			if got := ears[i].take(); !slices.Equal(got, want) {
				t.Errorf("%d heard %q, want %q", i, got, want)
			}
		}
	})
}

func TestAloneNobodyIsDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ear := startListening(t, newStore().options())
		h.Notify([]byte("hello"))
		synctest.Wait()
		if got := ear.take(); got != nil {
			t.Errorf("heard %q", got)
		}
	})
}

// TestDeaf: every loss is told to the peers' listener, before anything that came later.
func TestDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, receiver, ear := startTapped(t, newStore())
		receiver.Suspect()
		receiver.Down(true)
		receiver.Down(true)
		receiver.Suspect() // of a part of the bus
		receiver.Down(false)
		got := ear.take()
		want := []string{"deaf true", "deaf false", "deaf true", "deaf false"}
		if !slices.Equal(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
	})
}

// startTapped runs a hub whose bus is up and in the hands of the test.
func startTapped(t *testing.T, s *store) (*hub.Hub, hub.Receiver, *listener) {
	bus := &tappedBus{Bus: memstore.NewBroker().Endpoint(), receiver: make(chan hub.Receiver, 1)}
	o := s.options()
	o.Bus = bus
	h, ear := startListening(t, o)
	synctest.Wait()
	ear.take()
	return h, <-bus.receiver, ear
}

// TestDownAsksTheStore: while the bus is down nobody waits for a missing message, and what no gap shows is found.
func TestDownAsksTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h, receiver, _ := startTapped(t, s)
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		time.Sleep(3 * time.Second) // past the comparisons of a new topic

		receiver.Down(true)
		s.commit("room", "on another instance")
		h.Publish("room", s.commit("room", "here"))
		time.Sleep(60 * time.Millisecond)
		wantSeqs(t, "who has a gap", "room", c.received(), 1, 2)

		for range 3 {
			last := s.last("room")
			s.commit("room", "on another instance")
			time.Sleep(1600 * time.Millisecond)
			wantSeqs(t, "who has missed the last", "room", c.received(), 1, last+1)
		}

		s.commit("room", "on another instance")
		receiver.Down(false)
		time.Sleep(200 * time.Millisecond) // with the wait for the gap
		wantSeqs(t, "who is told that the bus is up", "room", c.received(), 1, 6)

		s.commit("room", "lost")
		time.Sleep(5 * time.Second)
		wantSeqs(t, "who trusts the bus", "room", c.received(), 1, 6)
	})
}

// TestDownCosts asks for all topics at each turn, in few questions, and only while the bus is down.
func TestDownCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		var questions atomic.Int32
		bus := &tappedBus{Bus: memstore.NewBroker().Endpoint(), receiver: make(chan hub.Receiver, 1)}
		o := s.options()
		o.Bus = bus
		o.LastSeqs = func(ctx context.Context, names []string) (map[string]int64, error) {
			questions.Add(1)
			return s.lastSeqs(ctx, names)
		}
		h := start(t, o)
		_, session := connect(t, h, hub.JSON)
		for i := range 1200 {
			session.conn.Subscribe(fmt.Sprint("room ", i), 0, nil)
		}
		receiver := <-bus.receiver
		time.Sleep(3 * time.Second)
		for _, phase := range []struct {
			down bool
			most int32
			want int32
		}{{true, 3 * 7, 3 * 6}, {false, 3, 3}} {
			questions.Store(0)
			receiver.Down(phase.down)
			time.Sleep(10 * time.Second)
			if n := questions.Load(); n < phase.want || n > phase.most {
				t.Errorf("down %v: %d questions in ten seconds", phase.down, n)
			}
		}
	})
}
