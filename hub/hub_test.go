package hub_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

// store holds the committed messages of a test.
type store struct {
	mu       sync.Mutex
	messages map[string][]hub.Message
	fetches  int
	broken   error // if not nil, Fetch and LastSeqs return it
}

func newStore() *store { return &store{messages: map[string][]hub.Message{}} }

// commit stores a text under the topic's next seq, and returns it as a message. It does not publish it.
func (s *store) commit(topic, text string) hub.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := hub.Message{Seq: int64(len(s.messages[topic]) + 1), Data: []byte(text)}
	s.messages[topic] = append(s.messages[topic], m)
	return m
}

func (s *store) last(topic string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.messages[topic]))
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

// fetched returns how often the hub has called Fetch.
func (s *store) fetched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches
}

func (s *store) fetch(_ context.Context, spans []hub.Span) (map[string][]hub.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetches++
	if s.broken != nil {
		return nil, s.broken
	}
	found := map[string][]hub.Message{}
	for _, span := range spans {
		all := s.messages[span.Topic]
		found[span.Topic] = all[span.After:min(span.Through, int64(len(all)))]
	}
	return found, nil
}

func (s *store) lastSeqs(_ context.Context, topics []string) (map[string]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, s.broken
	}
	lasts := map[string]int64{}
	for _, topic := range topics {
		lasts[topic] = int64(len(s.messages[topic]))
	}
	return lasts, nil
}

// options returns options for a hub that reads from this store. Its pushes are "topic:seq:data" and its pings are
// "ping".
func (s *store) options() hub.Options {
	return hub.Options{
		Encode: func(_ hub.Encoding, topic string, m hub.Message) []byte {
			return fmt.Appendf(nil, "%s:%d:%s", topic, m.Seq, m.Data)
		},
		Ping:     func(hub.Encoding) []byte { return []byte("ping") },
		Fetch:    s.fetch,
		LastSeqs: s.lastSeqs,
	}
}

// start runs a hub until the end of the test.
func start(t testing.TB, o hub.Options) *hub.Hub {
	h := hub.New(o)
	run(t, h)
	return h
}

func run(t testing.TB, h *hub.Hub) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if n := h.Connections(); n != 0 {
			t.Errorf("%d connections left after Run", n)
		}
	})
}

// session is a Handler that records the calls of its methods.
type session struct {
	conn *hub.Conn

	mu      sync.Mutex
	frames  []string
	signals []string
	closed  int
	busy    bool
	onFrame func(data string) // runs before the frame is recorded
	rest    func()            // returned by Frame
}

func newSession(c *hub.Conn) hub.Handler { return &session{conn: c} }

func (s *session) Frame(_ bool, data []byte) (flush bool, rest func()) {
	if s.onFrame != nil {
		s.onFrame(string(data))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, string(data))
	return false, s.rest
}

func (s *session) Control() bool { return true }

func (s *session) Signal(topic string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signals = append(s.signals, topic+":"+string(data))
}

func (s *session) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.busy
}

func (s *session) Closed(int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
}

func (s *session) setBusy(busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = busy
}

// received returns the frames and signals handled so far, and how often Closed was called.
func (s *session) received() (frames, signals []string, closed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.frames...), append([]string(nil), s.signals...), s.closed
}

// client is the client's end of a connection.
type client struct {
	ws  *websocket.Conn
	enc hub.Encoding

	mu   sync.Mutex
	got  []string // messages received
	wire []int    // how many messages each received frame had
	err  error    // why reading ended
	done chan struct{}
}

// connect attaches a new connection to the hub, over an in-memory pipe. The returned client reads and records its
// messages.
func connect(t testing.TB, h *hub.Hub, e hub.Encoding) (*client, *session) {
	c, s := dial(t, h, e)
	go c.read()
	return c, s
}

// dial attaches a new connection as connect does. The returned client reads nothing until the test starts it.
func dial(t testing.TB, h *hub.Hub, e hub.Encoding) (*client, *session) {
	near, far := net.Pipe()
	attached := make(chan *session, 1)
	go func() {
		ws, err := upgrade(near)
		if err != nil {
			t.Error(err)
			close(attached)
			return
		}
		var s *session
		h.Attach(ws, e, func(c *hub.Conn) hub.Handler {
			s = &session{conn: c}
			return s
		})
		attached <- s
	}()
	ws, _, err := websocket.NewClient(far, &url.URL{Scheme: "ws", Host: "hub"}, nil, 1024, 1024)
	noError(t, err)
	c := &client{ws: ws, enc: e, done: make(chan struct{})}
	t.Cleanup(func() { ws.Close() })
	return c, <-attached
}

// upgrade does the server's side of the WebSocket handshake on the connection.
func upgrade(conn net.Conn) (*websocket.Conn, error) {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return nil, err
	}
	return (&websocket.Upgrader{WriteBufferPool: &sync.Pool{}}).Upgrade(hijackable{conn}, r, nil)
}

// hijackable is a ResponseWriter that only returns its connection to the upgrader.
type hijackable struct{ conn net.Conn }

func (h hijackable) Header() http.Header         { return http.Header{} }
func (h hijackable) Write(b []byte) (int, error) { return h.conn.Write(b) }
func (h hijackable) WriteHeader(int)             {}
func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

func (c *client) read() {
	defer close(c.done)
	for {
		_, data, err := c.ws.ReadMessage()
		c.mu.Lock()
		if err != nil {
			c.err = err
			c.mu.Unlock()
			c.ws.Close()
			return
		}
		messages := split(c.enc, data)
		c.wire = append(c.wire, len(messages))
		c.got = append(c.got, messages...)
		c.mu.Unlock()
	}
}

func split(e hub.Encoding, data []byte) (messages []string) {
	if e == hub.JSON {
		return strings.Split(string(data), "\n")
	}
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		messages = append(messages, string(data[n:n+int(size)]))
		data = data[n+int(size):]
	}
	return messages
}

// received returns the messages that the client has received so far.
func (c *client) received() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.got...)
}

// frames returns, for each frame that the client has received so far, how many messages the frame had.
func (c *client) frames() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]int(nil), c.wire...)
}

// closeError waits for the end of the connection and returns the close frame that ended it.
func (c *client) closeError(t testing.TB) *websocket.CloseError {
	t.Helper()
	c.end(t)
	closed, ok := c.err.(*websocket.CloseError)
	if !ok {
		t.Fatalf("reading ended with %v, want a close frame", c.err)
	}
	return closed
}

// end waits until the connection has ended.
func (c *client) end(t testing.TB) {
	t.Helper()
	select {
	case <-c.done:
	case <-time.After(15 * time.Minute): // in nearly all tests this is the fake time of a synctest bubble
		t.Fatal("the connection has not ended in 15 minutes")
	}
}

// write sends a message to the hub, as the client.
func (c *client) write(t testing.TB, text string) {
	t.Helper()
	noError(t, c.ws.WriteMessage(websocket.TextMessage, []byte(text)))
}

// eventually polls until the condition holds, and fails the test after a timeout. It is for tests with real sockets,
// where synctest cannot be used.
func eventually(t testing.TB, what string, met func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for !met() {
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
