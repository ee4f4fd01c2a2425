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
	"hongbao/hub/hubtest"
)

// recordingPeers is a Peers that records the calls of its methods.
type recordingPeers struct {
	mu    sync.Mutex
	heard []string
}

func (l *recordingPeers) Notice(data []byte) { l.note(string(data)) }
func (l *recordingPeers) BusLost(lost bool)  { l.note(fmt.Sprint("bus lost ", lost)) }
func (l *recordingPeers) Final(topic, subscriber string) {
	l.note(fmt.Sprint("final in ", topic, " for ", subscriber))
}

func (l *recordingPeers) note(call string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, call)
}

// take returns the calls recorded since the last take.
func (l *recordingPeers) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard := l.heard
	l.heard = nil
	return heard
}

// startWithPeers starts a hub whose Peers is the returned recordingPeers.
func startWithPeers(t *testing.T, o hub.Options) (*hub.Hub, *recordingPeers) {
	l := &recordingPeers{}
	h := hub.New(o)
	h.SetPeers(l)
	run(t, h)
	return h, l
}

func TestNoticesReachOtherInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := hubtest.NewBroker()
		var hubs []*hub.Hub
		var peers []*recordingPeers
		for range 3 {
			o := newStore().options()
			o.Bus = broker.Endpoint()
			h, l := startWithPeers(t, o)
			hubs, peers = append(hubs, h), append(peers, l)
		}
		synctest.Wait()
		for i, p := range peers {
			if got, want := p.take(), []string{"bus lost true", "bus lost false"}; !slices.Equal(got, want) {
				t.Errorf("instance %d: calls %q, want %q", i, got, want)
			}
		}
		for i := range 3 {
			hubs[0].Notify(fmt.Append(nil, i))
		}
		synctest.Wait()
		for i, want := range [][]string{nil, {"0", "1", "2"}, {"0", "1", "2"}} {
			if got := peers[i].take(); !slices.Equal(got, want) {
				t.Errorf("instance %d: calls %q, want %q", i, got, want)
			}
		}
	})
}

func TestWithoutABusItIsNeverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, p := startWithPeers(t, newStore().options())
		h.Notify([]byte("hello"))
		synctest.Wait()
		if got := p.take(); got != nil {
			t.Errorf("calls %q, want none", got)
		}
	})
}

// TestPeersHearOfEveryLoss causes several losses on the bus. For each one BusLost must be called, before any notice
// that was sent after the loss.
func TestPeersHearOfEveryLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, receiver, p := startTapped(t, newStore())
		receiver.Suspect()
		receiver.Down(true)
		receiver.Down(true)
		receiver.Suspect() // a part of the bus has lost messages
		receiver.Down(false)
		got := p.take()
		want := []string{"bus lost true", "bus lost false", "bus lost true", "bus lost false"}
		if !slices.Equal(got, want) {
			t.Errorf("calls %q, want %q", got, want)
		}
	})
}

// startTapped starts a hub whose bus is up. The test acts as the bus through the returned Receiver.
func startTapped(t *testing.T, s *store) (*hub.Hub, hub.Receiver, *recordingPeers) {
	bus := &tappedBus{Bus: hubtest.NewBroker().Endpoint(), receiver: make(chan hub.Receiver, 1)}
	o := s.options()
	o.Bus = bus
	h, p := startWithPeers(t, o)
	synctest.Wait()
	p.take()
	return h, <-bus.receiver, p
}

// TestStoreIsAskedWhileTheBusIsDown loses messages while the bus is down. Messages missing before a later one must be
// fetched at once. Lost messages that no later one reveals must be found, too.
func TestStoreIsAskedWhileTheBusIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h, receiver, _ := startTapped(t, s)
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		time.Sleep(8 * time.Second) // until the comparisons after the start are over

		receiver.Down(true)
		s.commit("room", "on another instance")
		h.Publish("room", s.commit("room", "here"))
		time.Sleep(60 * time.Millisecond)
		wantSeqs(t, "the client with a gap", "room", c.received(), 1, 2)

		for range 3 {
			last := s.last("room")
			s.commit("room", "on another instance")
			time.Sleep(1600 * time.Millisecond)
			wantSeqs(t, "the client that missed the last message", "room", c.received(), 1, last+1)
		}

		s.commit("room", "on another instance")
		receiver.Down(false)
		time.Sleep(200 * time.Millisecond) // includes the wait for missing messages
		wantSeqs(t, "the client after the bus came back", "room", c.received(), 1, 6)

		time.Sleep(5 * time.Second) // until the comparisons are over
		s.commit("room", "lost")
		time.Sleep(5 * time.Second)
		wantSeqs(t, "the client while the bus is up", "room", c.received(), 1, 6)
	})
}

// TestBusDownCostsFewQueries counts queries to the store. While the bus is down, and for 5 seconds after, all topics must be
// compared every 1.5 seconds, with few queries. After that they must not be.
func TestBusDownCostsFewQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		var queries atomic.Int32
		bus := &tappedBus{Bus: hubtest.NewBroker().Endpoint(), receiver: make(chan hub.Receiver, 1)}
		o := s.options()
		o.Bus = bus
		o.LastSeqs = func(ctx context.Context, names []string) (map[string]int64, error) {
			queries.Add(1)
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
			name        string
			least, most int32 // 1,200 topics take 3 queries
		}{{"down", 3 * 6, 3 * 7}, {"just up", 3 * 4, 3 * 5}, {"up", 0, 0}} {
			queries.Store(0)
			receiver.Down(phase.name == "down")
			time.Sleep(10 * time.Second)
			if n := queries.Load(); n < phase.least || n > phase.most {
				t.Errorf("bus %s: %d queries in ten seconds, want %d to %d", phase.name, n, phase.least, phase.most)
			}
		}
	})
}

// TestFinalIsToldToPeers delivers messages with Final: of this instance, of another one, and one that the bus has lost. Peers must hear of each
// on the instances with connections in the topic, the lost one after its repair.
func TestFinalIsToldToPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := hubtest.NewBroker()
		s := newStore()
		var hubs []*hub.Hub
		var peers []*recordingPeers
		for range 2 {
			o := s.options()
			o.Bus = broker.Endpoint()
			h, l := startWithPeers(t, o)
			hubs, peers = append(hubs, h), append(peers, l)
			_, session := connect(t, h, hub.JSON)
			session.conn.Subscribe("room", 0, nil)
		}
		synctest.Wait()
		for _, p := range peers {
			p.take()
		}
		want := func(what string, each ...[]string) {
			t.Helper()
			for i, p := range peers {
				if got := p.take(); !slices.Equal(got, each[i]) {
					t.Errorf("%s: instance %d: calls %q, want %q", what, i, got, each[i])
				}
			}
		}
		hubs[0].Publish("room", s.commitFinal("room", "out", "user:ann"))
		synctest.Wait()
		want("published", []string{"final in room for user:ann"}, []string{"final in room for user:ann"})
		s.commitFinal("room", "out", "user:bob") // published by nobody
		hubs[0].Publish("room", s.commit("room", "later"))
		time.Sleep(time.Minute)
		synctest.Wait()
		want("repaired", []string{"final in room for user:bob"}, []string{"final in room for user:bob"})
		hubs[0].Publish("another room", s.commitFinal("another room", "out", "user:ann"))
		synctest.Wait()
		want("without connections", nil, nil)
	})
}
