package hub_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

const (
	benchSockets = 200
	benchPayload = 200 // bytes
)

// BenchmarkBroadcast sends b.N broadcasts to 200 sockets, the next one as soon as fewer than the given number are in
// flight, and reports deliveries per second. The naive hub writes to one socket after the other.
func BenchmarkBroadcast(b *testing.B) {
	payload := []byte(`{"text":"` + strings.Repeat("x", benchPayload-11) + `"}`)
	for _, style := range []string{"naive", "hub"} {
		for _, inFlight := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/in-flight=%d", style, inFlight), func(b *testing.B) {
				if style == "naive" {
					benchNaive(b, inFlight, payload)
				} else {
					benchHub(b, inFlight, payload)
				}
			})
		}
	}
}

func benchNaive(b *testing.B, inFlight int, payload []byte) {
	conns := make(chan *websocket.Conn, benchSockets)
	m := newMeter(b, func(ws *websocket.Conn) { conns <- ws })
	m.measure(inFlight, func() func() {
		all := make([]*websocket.Conn, benchSockets)
		for i := range all {
			all[i] = <-conns
			defer b.Cleanup(func() { all[i].Close() })
		}
		return func() {
			for _, ws := range all {
				ws.SetWriteDeadline(time.Now().Add(time.Second))
				ws.WriteMessage(websocket.TextMessage, payload)
			}
		}
	}())
}

func benchHub(b *testing.B, inFlight int, payload []byte) {
	h := hub.New(newStore().options())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	b.Cleanup(func() { cancel(); running.Wait() })
	m := newMeter(b, func(ws *websocket.Conn) {
		h.Attach(ws, hub.JSON, newSession).Subscribe("room", 0, nil)
	})
	eventually(b, "all to subscribe", func() bool { return h.Listeners("room") == benchSockets })
	var seq int64
	m.measure(inFlight, func() {
		seq++
		h.Publish("room", hub.Message{Seq: seq, Data: payload})
	})
}

// meter is benchSockets clients that count the messages they receive.
type meter struct {
	b        *testing.B
	received []atomic.Int64 // by client
	arrived  chan struct{}
}

func newMeter(b *testing.B, accept func(*websocket.Conn)) *meter {
	upgrader := websocket.Upgrader{ReadBufferSize: 512, WriteBufferPool: &sync.Pool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			b.Error(err)
			return
		}
		accept(ws)
	}))
	b.Cleanup(server.Close)
	m := &meter{b: b, received: make([]atomic.Int64, benchSockets), arrived: make(chan struct{}, 1)}
	for i := range benchSockets {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ws.Close() })
		go m.count(ws.NetConn(), &m.received[i])
	}
	return m
}

// count reads frames off the raw socket, because a full client would cost more than the server. Every message of the
// benchmark ends with a brace before a newline or the frame's end.
func (m *meter) count(conn net.Conn, received *atomic.Int64) {
	r := bufio.NewReaderSize(conn, 64<<10)
	var header [10]byte
	for {
		if _, err := io.ReadFull(r, header[:2]); err != nil {
			return
		}
		size := int64(header[1])
		switch size {
		case 126:
			io.ReadFull(r, header[2:4])
			size = int64(binary.BigEndian.Uint16(header[2:4]))
		case 127:
			io.ReadFull(r, header[2:10])
			size = int64(binary.BigEndian.Uint64(header[2:10]))
		}
		if _, err := r.Discard(int(size)); err != nil {
			return
		}
		received.Add((size + 1) / (benchPayload + 1))
		select {
		case m.arrived <- struct{}{}:
		default:
		}
	}
}

func (m *meter) measure(inFlight int, broadcast func()) {
	m.b.ResetTimer()
	for sent := range m.b.N {
		m.wait(int64(sent - inFlight + 1))
		broadcast()
	}
	m.wait(int64(m.b.N))
	m.b.ReportMetric(float64(m.b.N)*benchSockets/m.b.Elapsed().Seconds(), "deliveries/s")
}

// wait blocks until every client has got so many messages.
func (m *meter) wait(messages int64) {
	for i := range m.received {
		for m.received[i].Load() < messages {
			<-m.arrived
		}
	}
}
