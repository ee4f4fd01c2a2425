package hub_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
	"hongbao/hub/hubtest"
)

func TestMessagesAndSignalsReachOtherInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		broker := hubtest.NewBroker()
		instance := func() *hub.Hub {
			o := s.options()
			o.Bus = broker.Endpoint()
			return start(t, o)
		}
		a, b := instance(), instance()
		near, one := connect(t, a, hub.JSON)
		far, other := connect(t, b, hub.Protobuf)
		one.conn.Subscribe("room", 0, nil)
		other.conn.Subscribe("room", 0, nil)

		a.Publish("room", s.commit("room", "from a"))
		synctest.Wait()
		b.Publish("room", s.commit("room", "from b"))
		synctest.Wait()
		a.Publish("room", hub.Message{Data: []byte("loose")})
		a.Signal("room", []byte("signal"))
		time.Sleep(time.Second) // messages without a seq may be deferred

		want := []string{"room:1:from a", "room:2:from b", "room:0:loose"}
		for name, c := range map[string]*client{"near": near, "far": far} {
			if got := c.received(); !slices.Equal(got, want) {
				t.Errorf("%s got %q, want %q", name, got, want)
			}
		}
		for name, session := range map[string]*session{"near": one, "far": other} {
			if _, signals, _ := session.received(); !slices.Equal(signals, []string{"room:signal"}) {
				t.Errorf("%s got signals %q", name, signals)
			}
		}
	})
}

// TestTracedSurroundsTheDelivery publishes a message with the name of a span. Only the other instance calls Traced, and its subscribers
// receive the message.
func TestTracedSurroundsTheDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		broker := hubtest.NewBroker()
		var mu sync.Mutex
		var traced [2][]string // guarded by mu
		add := func(n int, call string) {
			mu.Lock()
			defer mu.Unlock()
			traced[n] = append(traced[n], call)
		}
		instance := func(n int) *hub.Hub {
			o := s.options()
			o.Bus = broker.Endpoint()
			o.Traced = func(topic, trace string) func() {
				add(n, topic+" "+trace)
				return func() { add(n, "done") }
			}
			return start(t, o)
		}
		a, b := instance(0), instance(1)
		far, other := connect(t, b, hub.JSON)
		other.conn.Subscribe("room", 0, nil)
		synctest.Wait()
		a.Publish("room", hub.Message{Data: []byte("loose"), Trace: "00-span"})
		time.Sleep(time.Second) // messages without a seq may be deferred
		if got := far.received(); !slices.Equal(got, []string{"room:0:loose"}) {
			t.Errorf("the client of the other instance got %q, want the message", got)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(traced[0]) != 0 || !slices.Equal(traced[1], []string{"room 00-span", "done"}) {
			t.Errorf("Traced was called as %q, want at the other instance only", traced)
		}
	})
}

// TestForgedPayloadsAreCountedAndRarelyLogged drops many payloads that no instance has sent. Each must be counted. There
// must be one line in the log, and another one only after a minute.
func TestForgedPayloadsAreCountedAndRarelyLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newStore().options()
		bus := &tappedBus{Bus: hubtest.NewBroker().Endpoint(), receiver: make(chan hub.Receiver, 1)}
		var log bytes.Buffer
		o.Bus, o.Log = bus, slog.New(slog.NewTextHandler(&log, nil))
		h := start(t, o)
		r := <-bus.receiver
		time.Sleep(time.Second)
		synctest.Wait() // until the lines of the start are written
		log.Reset()
		const each = 1000
		for range each {
			r.Forged("room")
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "topic=room") {
			t.Errorf("%d lines: %s", lines, log.String())
		}
		time.Sleep(time.Minute)
		r.Forged("room")
		if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "total=1001") {
			t.Errorf("%d lines after a minute: %s", lines, log.String())
		}
		if n := h.Stats().Forged; n != each+1 {
			t.Errorf("%d counted", n)
		}
	})
}

// tappedBus passes the hub's Receiver to the test, which then acts as the bus.
type tappedBus struct {
	hub.Bus
	receiver chan hub.Receiver // one slot
}

func (b *tappedBus) Run(ctx context.Context, r hub.Receiver) error {
	b.receiver <- r
	return b.Bus.Run(ctx, r)
}

// TestSuspectComparesEveryTopic loses the last message of each topic, so no later message shows a gap. There are more
// topics than one query can name. After Suspect, every subscriber must receive the lost message.
func TestSuspectComparesEveryTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const topics = 1200
		s := newStore()
		bus := &tappedBus{Bus: hubtest.NewBroker().Endpoint(), receiver: make(chan hub.Receiver, 1)}
		o := s.options()
		var queries atomic.Int32
		o.LastSeqs = func(ctx context.Context, names []string) (map[string]int64, error) {
			if queries.Add(1); len(names) > 500 {
				t.Errorf("a query names %d topics, want at most 500", len(names))
			}
			return s.lastSeqs(ctx, names)
		}
		o.Bus = bus
		h := start(t, o)
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("user", -1, nil)
		for i := range topics {
			session.conn.Subscribe(fmt.Sprint("room ", i), 0, nil)
		}
		time.Sleep(8 * time.Second) // until the comparisons after the start are over
		queries.Store(0)
		for i := range topics {
			s.commit(fmt.Sprint("room ", i), "lost")
		}
		(<-bus.receiver).Suspect()
		time.Sleep(3 * time.Second)
		if got := len(c.received()); got != topics {
			t.Errorf("%d of %d lost messages came", got, topics)
		}
		if n := queries.Load(); n != 3 {
			t.Errorf("%d queries, want 3", n)
		}
	})
}

// TestMessageBeforeSubscribeIsFound publishes a message after the subscriber has read its seq from the store, and
// before the subscriber subscribes. The subscriber must still receive the message.
func TestMessageBeforeSubscribeIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		seen := s.last("room")
		h.Publish("room", s.commit("room", "x"))
		session.conn.Subscribe("room", seen, nil)
		time.Sleep(400 * time.Millisecond)
		wantSeqs(t, "listener", "room", c.received(), 1, 1)
	})
}

// brokenBus is a Bus whose Run returns an error at once.
type brokenBus struct{ hub.Bus }

var errBroken = errors.New("broken")

func (brokenBus) Run(context.Context, hub.Receiver) error { return errBroken }

func TestRunEndsWithItsBus(t *testing.T) {
	o := newStore().options()
	o.Bus = brokenBus{hubtest.NewBroker().Endpoint()}
	if err := hub.New(o).Run(context.Background()); !errors.Is(err, errBroken) {
		t.Errorf("Run returned %v", err)
	}
}

// TestRunAgainWhileConnectionsComeAndGo calls Run repeatedly while connections attach and end concurrently.
func TestRunAgainWhileConnectionsComeAndGo(t *testing.T) {
	for range 10 {
		s := newStore()
		o := s.options()
		o.Bus = hubtest.NewBroker().Endpoint()
		h := hub.New(o)
		for range 50 {
			ctx, cancel := context.WithCancel(context.Background())
			var running sync.WaitGroup
			running.Go(func() {
				if err := h.Run(ctx); err != nil {
					t.Error(err)
				}
			})
			c, session := connect(t, h, hub.JSON)
			running.Go(func() {
				session.conn.Subscribe("room", s.last("room"), nil)
				h.Publish("room", s.commit("room", "x"))
			})
			running.Go(cancel)
			running.Wait()
			c.ws.Close()
			c.end(t)
		}
		eventually(t, "all connections to be gone", func() bool { return h.Connections() == 0 })
		if topics := h.Stats().Topics; topics != 0 {
			t.Errorf("%d topics left", topics)
		}
	}
}

// TestCompareTopicFindsWhatNobodyPublished stores a message that no instance publishes, as after a commit whose outcome its instance does not
// know. After CompareTopic, the subscribers of both instances must receive it within seconds, and not only with the comparison each minute.
func TestCompareTopicFindsWhatNobodyPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		broker := hubtest.NewBroker()
		var hubs []*hub.Hub
		clients := map[string]*client{}
		for _, name := range []string{"here", "there"} {
			o := s.options()
			o.Bus = broker.Endpoint()
			h := start(t, o)
			c, session := connect(t, h, hub.JSON)
			session.conn.Subscribe("room", 0, nil)
			hubs, clients[name] = append(hubs, h), c
		}
		time.Sleep(10 * time.Second) // a new topic is compared more often, and so is each one after the bus has come up
		began := time.Now()
		s.commit("room", "a")
		hubs[0].CompareTopic("room")
		hubs[0].CompareTopic("nobody is here")
		for began.Add(3 * time.Second).After(time.Now()) {
			time.Sleep(100 * time.Millisecond)
		}
		for name, c := range clients {
			wantPushes(t, "the subscriber "+name+", after 3 s", c, "room:1:a")
		}
	})
}
