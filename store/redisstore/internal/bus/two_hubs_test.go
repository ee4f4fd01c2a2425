package bus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// testStore is the store behind the hubs of a test.
type testStore struct {
	mu      sync.Mutex
	commits map[string][]time.Time // commit times of a topic's messages; a message's seq is its index + 1
}

func (s *testStore) commit(topic string) hub.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits[topic] = append(s.commits[topic], time.Now())
	return hub.Message{Seq: int64(len(s.commits[topic])), Data: []byte(topic)}
}

func (s *testStore) fetch(_ context.Context, spans []hub.Span) (map[string][]hub.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string][]hub.Message{}
	for _, span := range spans {
		for seq := span.After + 1; seq <= min(span.Through, int64(len(s.commits[span.Topic]))); seq++ {
			found[span.Topic] = append(found[span.Topic], hub.Message{Seq: seq, Data: []byte(span.Topic)})
		}
	}
	return found, nil
}

func (s *testStore) lastSeqs(_ context.Context, topics []string) (map[string]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lasts := map[string]int64{}
	for _, topic := range topics {
		lasts[topic] = int64(len(s.commits[topic]))
	}
	return lasts, nil
}

// instance is a hub with one client that listens to all topics.
type instance struct {
	hub   *hub.Hub
	store *testStore
	bus   *Bus

	mu      sync.Mutex // guards the fields below
	last    map[string]int64
	slowest time.Duration // from commit to client
	wrong   string
}

// startInstance runs a hub on its own end of the bus.
func startInstance(t *testing.T, s *testStore, url string, topics []string) *instance {
	t.Helper()
	i := &instance{store: s, bus: openBus(t, url), last: map[string]int64{}}
	i.hub = hub.New(hub.Options{
		Encode: func(_ hub.Encoding, topic string, m hub.Message) []byte {
			return fmt.Appendf(nil, "%s %d", topic, m.Seq)
		},
		Ping:  func(hub.Encoding) []byte { return []byte("ping 0") },
		Fetch: s.fetch, LastSeqs: s.lastSeqs, Bus: i.bus,
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- i.hub.Run(ctx) }()
	httpServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		c := i.hub.Attach(ws, hub.JSON, func(*hub.Conn) hub.Handler { return noopHandler{} })
		for _, topic := range topics {
			c.Subscribe(topic, 0, nil)
		}
	}))
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(httpServer.URL, "http"), nil)
	noError(t, err)
	read := make(chan struct{})
	go func() {
		defer close(read)
		i.read(ws)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		<-read
		ws.Close()
		httpServer.Close()
	})
	return i
}

// read records all messages of the client.
func (i *instance) read(ws *websocket.Conn) {
	for {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			return
		}
		for line := range strings.Lines(string(frame)) {
			var topic string
			var seq int64
			if _, err := fmt.Sscan(line, &topic, &seq); err == nil && topic != "ping" {
				i.note(topic, seq)
			}
		}
	}
}

func (i *instance) note(topic string, seq int64) {
	i.store.mu.Lock()
	took := time.Since(i.store.commits[topic][seq-1])
	i.store.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	if seq != i.last[topic]+1 && i.wrong == "" {
		i.wrong = fmt.Sprintf("%s: %d came after %d", topic, seq, i.last[topic])
	}
	i.last[topic] = seq
	i.slowest = max(i.slowest, took)
}

// has reports whether all messages committed to the topics have arrived at the client.
func (i *instance) has(topics []string) bool {
	lasts, _ := i.store.lastSeqs(context.Background(), topics)
	i.mu.Lock()
	defer i.mu.Unlock()
	for topic, last := range lasts {
		if i.last[topic] < last {
			return false
		}
	}
	return true
}

// takeSlowest returns the longest time from commit to client so far, and starts a new measurement.
func (i *instance) takeSlowest() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	slowest := i.slowest
	i.slowest = 0
	return slowest
}

// noopHandler is a hub.Handler that does nothing.
type noopHandler struct{}

func (noopHandler) Frame(bool, []byte) (flush bool, rest func()) { return false, nil }
func (noopHandler) Control() bool                                { return true }
func (noopHandler) Signal(string, []byte)                        {}
func (noopHandler) Idle() bool                                   { return true }
func (noopHandler) Closed(int, bool)                             {}

// TestTwoHubs runs two instances, each with a client, through faults of Redis. Each client receives every message
// once and in order. In make nightly there are more faults. The delay is at most the time to detect the fault then, so it does
// not rely on the hub's comparison once a minute.
func TestTwoHubs(t *testing.T) {
	t.Parallel()
	server := storetest.Redis(t)
	proxy, err := loopback.StartProxy(server.Addr())
	noError(t, err)
	t.Cleanup(proxy.Close)
	var topics []string
	for n := range 20 {
		topics = append(topics, fmt.Sprint("room:", n))
	}
	s := &testStore{commits: map[string][]time.Time{}}
	near := startInstance(t, s, "redis://"+proxy.Addr()+"/0", topics)
	far := startInstance(t, s, server.URL(), topics)
	both := []*instance{near, far}

	wantDelivered := func(what string, instances ...*instance) {
		t.Helper()
		for n, i := range instances {
			redistest.Await(t, fmt.Sprintf("%s: instance %d of %d has all messages", what, n, len(instances)), func() bool { return i.has(topics) })
			slow := i.takeSlowest()
			t.Logf("%-14s slowest after %v", what, slow.Round(10*time.Millisecond))
			if slow > 10*time.Second && enginetest.Tonight("waits") {
				t.Errorf("%s: a message took %v", what, slow)
			}
		}
	}
	// publishDuring makes both instances publish for the given time while a function runs.
	publishDuring := func(d time.Duration, during func()) {
		var publishing sync.WaitGroup
		end := time.Now().Add(d)
		for _, i := range both {
			publishing.Go(func() {
				ticker := time.NewTicker(3 * time.Millisecond)
				defer ticker.Stop()
				for time.Now().Before(end) {
					<-ticker.C
					topic := topics[rand.N(len(topics))]
					i.hub.Publish(topic, s.commit(topic))
				}
			})
		}
		during()
		publishing.Wait()
	}
	restart := func() {
		if err := server.Restart(t.Context()); err != nil {
			t.Error(err)
		}
	}

	if !enginetest.Tonight("waits") {
		const brief = 200 * time.Millisecond
		publishDuring(brief, proxy.Cut)
		wantDelivered("cut", both...)
		publishDuring(brief, func() {
			server.Kill()
			restart()
		})
		wantDelivered("restarted", both...)
	} else {
		publishDuring(time.Second, func() {})
		wantDelivered("no fault", both...)
		publishDuring(time.Second, proxy.Cut)
		wantDelivered("cut", both...)
		publishDuring(6*time.Second, func() { proxy.Swallow(true) })
		wantDelivered("half open", near) // near asks the store; far has received one Suspect, and compares while near is silent
		publishDuring(time.Second, func() { proxy.Swallow(false) })
		wantDelivered("healed", both...)
		publishDuring(5*time.Second, server.Pause)
		wantDelivered("paused", both...)
		publishDuring(time.Second, server.Resume)
		wantDelivered("resumed", both...)
		publishDuring(3*time.Second, server.Kill)
		wantDelivered("killed", both...)
		publishDuring(2*time.Second, restart)
		wantDelivered("restarted", both...)
		publishDuring(time.Second, func() { proxy.DropReplies(true) })
		wantDelivered("replies lost", both...)
		publishDuring(time.Second, func() { proxy.DropReplies(false) })
		wantDelivered("replies again", both...)
	}
	for _, i := range both {
		if i.wrong != "" {
			t.Error(i.wrong)
		}
	}
}
