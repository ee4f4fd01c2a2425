package redisstore

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
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// truth is the store behind the hubs of a test.
type truth struct {
	mu      sync.Mutex
	commits map[string][]time.Time // by topic; the seq is the index + 1
}

func (s *truth) commit(topic string) hub.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits[topic] = append(s.commits[topic], time.Now())
	return hub.Message{Seq: int64(len(s.commits[topic])), Data: []byte(topic)}
}

func (s *truth) fetch(_ context.Context, spans []hub.Span) (map[string][]hub.Message, error) {
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

func (s *truth) lastSeqs(_ context.Context, topics []string) (map[string]int64, error) {
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
	store *truth
	bus   *bus

	mu      sync.Mutex // guards the following
	last    map[string]int64
	slowest time.Duration // from commit to client
	wrong   string
}

// startInstance runs a hub on its end of the bus.
func startInstance(t *testing.T, s *truth, url string, topics []string) *instance {
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
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		c := i.hub.Attach(ws, hub.JSON, func(*hub.Conn) hub.Handler { return nobody{} })
		for _, topic := range topics {
			c.Subscribe(topic, 0, nil)
		}
	}))
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(door.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
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
		door.Close()
	})
	return i
}

// read keeps the journal.
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

// has tells whether all that was committed has come.
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

// takeSlowest begins to measure anew.
func (i *instance) takeSlowest() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	slowest := i.slowest
	i.slowest = 0
	return slowest
}

// nobody is a Handler that does nothing.
type nobody struct{}

func (nobody) Frame(bool, []byte) bool { return false }
func (nobody) Signal(string, []byte)   {}
func (nobody) Idle() bool              { return true }
func (nobody) Closed()                 {}

// TestTwoHubs lets two instances talk through everything that befalls their Redis: each client gets every message
// once, in order, and late at most by what the fault's discovery takes. The minute's comparison has no part in it.
func TestTwoHubs(t *testing.T) {
	t.Parallel()
	server := storetest.Redis(t)
	proxy, err := loopback.StartProxy(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	var topics []string
	for n := range 20 {
		topics = append(topics, fmt.Sprint("room:", n))
	}
	s := &truth{commits: map[string][]time.Time{}}
	near := startInstance(t, s, "redis://"+proxy.Addr()+"/0", topics)
	far := startInstance(t, s, server.URL(), topics)
	both := []*instance{near, far}

	calm := func(what string, who ...*instance) {
		t.Helper()
		for n, i := range who {
			await(t, fmt.Sprintf("instance %d of %d to have all: %s", n, len(who), what), func() bool { return i.has(topics) })
			slow := i.takeSlowest()
			t.Logf("%-14s slowest after %v", what, slow.Round(10*time.Millisecond))
			if slow > 10*time.Second {
				t.Errorf("%s: a message took %v", what, slow)
			}
		}
	}
	// each has both talk for a time; what is said last shows no gap.
	talk := func(d time.Duration, during func()) {
		var talking sync.WaitGroup
		end := time.Now().Add(d)
		for _, i := range both {
			talking.Go(func() {
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
		talking.Wait()
	}
	restart := func() {
		if err := server.Restart(t.Context()); err != nil {
			t.Error(err)
		}
	}

	talk(time.Second, func() {})
	calm("peace", both...)
	talk(time.Second, proxy.Cut)
	calm("a cut", both...)
	talk(6*time.Second, func() { proxy.Swallow(true) })
	calm("half open", near) // It asks the store. The far one has suspected something once, and waits for it to come back.
	talk(time.Second, func() { proxy.Swallow(false) })
	calm("healed", both...)
	talk(5*time.Second, server.Pause)
	calm("paused", both...)
	talk(time.Second, server.Resume)
	calm("resumed", both...)
	talk(3*time.Second, server.Kill)
	calm("killed", both...)
	talk(2*time.Second, restart)
	calm("restarted", both...)
	talk(time.Second, func() { proxy.DropReplies(true) })
	calm("replies lost", both...)
	talk(time.Second, func() { proxy.DropReplies(false) })
	calm("replies again", both...)
	for _, i := range both {
		if i.wrong != "" {
			t.Error(i.wrong)
		}
	}
}
