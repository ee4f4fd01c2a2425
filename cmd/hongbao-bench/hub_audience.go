package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

const audienceTopic = "room"

// audience is sockets over loopback that listen to one topic, and clients that only count what they hear.
type audience struct {
	hub   *hub.Hub
	conns []*websocket.Conn // the server's ends
	seq   int64

	writes sync.Pool // of write buffers

	size     atomic.Int64                                  // of a message and the mark behind it
	heard    []atomic.Int64                                // messages, by client, since start
	reached  [maxInFlight]atomic.Int64                     // how many clients have heard message n, at n modulo its length
	complete atomic.Int64                                  // messages that all have heard
	news     chan struct{}                                 // one slot: complete has grown
	frame    atomic.Pointer[func(client int, body []byte)] // shown each frame
	url      string
	accepted chan *websocket.Conn
}

// maxInFlight bounds how far the first client may be ahead of the last.
const maxInFlight = 1024

// newAudience makes the sockets. They are upgraded like the server's own: short read buffers, write buffers from a pool.
func newAudience(ctx context.Context, s *site, sockets int) (*audience, error) {
	a := &audience{
		hub: hub.New(hub.Options{
			Encode:   func(_ hub.Encoding, _ string, m hub.Message) []byte { return m.Data },
			Ping:     func(hub.Encoding) []byte { return []byte("{}") },
			Fetch:    func(context.Context, []hub.Span) (map[string][]hub.Message, error) { return nil, nil },
			LastSeqs: func(context.Context, []string) (map[string]int64, error) { return nil, nil },
			Log:      s.log, QueueBytes: 64 << 10,
		}),
		heard: make([]atomic.Int64, sockets), news: make(chan struct{}, 1), accepted: make(chan *websocket.Conn, 1),
	}
	s.run(ctx, a.hub.Run)
	url, err := s.serve(ctx, a.upgrade)
	if err != nil {
		return nil, err
	}
	a.url = "ws" + strings.TrimPrefix(url, "http")
	for i := range sockets {
		ours, theirs, err := a.connect(ctx)
		if err != nil {
			return nil, fmt.Errorf("client %d: %w", i, err)
		}
		a.conns = append(a.conns, ours)
		a.attach(ours)
		var counting sync.WaitGroup
		counting.Go(func() { a.count(i, theirs.NetConn()) })
		s.later(func() error {
			_ = theirs.Close() // it has nothing to lose
			counting.Wait()
			return nil
		})
	}
	return a, nil
}

// upgrade takes whoever comes, as the server does.
func (a *audience) upgrade(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{ReadBufferSize: 256, WriteBufferPool: &a.writes}
	if ws, err := upgrader.Upgrade(w, r, nil); err == nil { // else the upgrader has answered
		a.accepted <- ws
	}
}

// connect gives both ends of a new socket.
func (a *audience) connect(ctx context.Context) (ours, theirs *websocket.Conn, err error) {
	theirs, answer, err := websocket.DefaultDialer.DialContext(ctx, a.url, nil)
	if err != nil {
		return nil, nil, err
	}
	return <-a.accepted, theirs, answer.Body.Close()
}

// attach has the socket listen.
func (a *audience) attach(ours *websocket.Conn) {
	a.hub.Attach(ours, hub.JSON, func(*hub.Conn) hub.Handler { return listener{} }).Subscribe(audienceTopic, a.seq, nil)
}

// listener is a client's session, which has nothing to say.
type listener struct{}

// Frame implements hub.Handler.
func (listener) Frame(bool, []byte) {}

// Signal implements hub.Handler.
func (listener) Signal(string, []byte) {}

// Idle implements hub.Handler.
func (listener) Idle() bool { return true }

// Closed implements hub.Handler.
func (listener) Closed() {}

// payload is a message that marks its own end.
func (a *audience) payload(size int) []byte {
	a.size.Store(int64(size) + 1)
	return append(bytes.Repeat([]byte("x"), size-1), '}')
}

// start counts anew. Nothing may be on its way. The deadlines that its peer has left are not the hub's.
func (a *audience) start() error {
	for _, ws := range a.conns {
		if err := ws.NetConn().SetWriteDeadline(time.Time{}); err != nil {
			return err
		}
	}
	for i := range a.heard {
		a.heard[i].Store(0)
	}
	for i := range a.reached {
		a.reached[i].Store(0)
	}
	a.complete.Store(0)
	return nil
}

// show has frames shown to somebody, each client's by its own goroutine; nil: to nobody any more.
func (a *audience) show(see func(client int, frame []byte)) {
	if see == nil {
		a.frame.Store(nil)
		return
	}
	a.frame.Store(&see)
}

// await returns when everybody has heard so many messages.
func (a *audience) await(ctx context.Context, messages int) error {
	for a.complete.Load() < int64(messages) {
		select {
		case <-a.news:
		case <-time.After(10 * time.Second):
			return fmt.Errorf("only %d of %d messages have come to everybody", a.complete.Load(), messages)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// heardAll sees that everybody has heard so many, and nobody more.
func (a *audience) heardAll(messages int) error {
	for i := range a.heard {
		if n := a.heard[i].Load(); n != int64(messages) {
			return fmt.Errorf("client %d has heard %d of %d messages", i, n, messages)
		}
	}
	return nil
}

// count reads frames off the raw socket: a full client would cost more than the server.
func (a *audience) count(client int, conn net.Conn) {
	r := bufio.NewReaderSize(conn, 64<<10)
	for {
		n, err := frameSize(r)
		if err != nil {
			return
		}
		if see := a.frame.Load(); see != nil {
			body, err := r.Peek(n)
			if err != nil {
				return
			}
			(*see)(client, body)
		}
		if _, err := r.Discard(n); err != nil {
			return
		}
		a.hear(client, (int64(n)+1)/a.size.Load())
	}
}

// hear notes messages that have come to a client.
func (a *audience) hear(client int, messages int64) {
	upTo := a.heard[client].Add(messages)
	for n := upTo - messages; n < upTo; n++ {
		if at := &a.reached[n%maxInFlight]; at.Add(1) == int64(len(a.heard)) {
			at.Store(0)
			a.complete.Add(1)
			select {
			case a.news <- struct{}{}:
			default:
			}
		}
	}
}

// frameSize reads the head of a server's frame.
func frameSize(r *bufio.Reader) (int, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:2]); err != nil {
		return 0, err
	}
	switch head[1] {
	case 126:
		_, err := io.ReadFull(r, head[:2])
		return int(binary.BigEndian.Uint16(head[:2])), err
	case 127:
		_, err := io.ReadFull(r, head[:8])
		return int(binary.BigEndian.Uint64(head[:8])), err
	default:
		return int(head[1]), nil
	}
}
