//go:build !race

// Under the race detector a sync.Pool drops items at random.

package hub

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// TestDeliveryAllocatesOnlyFrames publishes to many connections and counts allocations. Each broadcast allocates one
// frame per encoding in use, whatever the number of connections, whether frames are written alone or joined.
func TestDeliveryAllocatesOnlyFrames(t *testing.T) {
	const count = 100
	for _, test := range []struct {
		name   string
		listen []Encoding // in turn
		pushes int        // how many pushes are held and then written together
	}{
		{"JSON", []Encoding{JSON}, 1},
		{"JSON, joined", []Encoding{JSON}, 16},
		{"Protobuf", []Encoding{Protobuf}, 1},
		{"Protobuf, joined", []Encoding{Protobuf}, 16},
		{"both", []Encoding{JSON, Protobuf}, 1},
		{"both, joined", []Encoding{JSON, Protobuf}, 16},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := New(quietOptions())
			conns := subscribedConns(t, h, count, test.listen)
			m := Message{Data: []byte(strings.Repeat("x", 200))}
			allocs := testing.AllocsPerRun(100, func() {
				for _, c := range conns {
					c.Hold()
				}
				for range test.pushes {
					m.Seq++
					h.Publish("room", m)
				}
				for _, c := range conns {
					c.Release(nil)
				}
				for _, c := range conns {
					c.awaitWritten()
				}
			})
			if frames := float64(test.pushes * len(test.listen)); allocs > frames {
				t.Errorf("%v allocations for %d deliveries of %d pushes, want only the %v frames", allocs, count*test.pushes, test.pushes, frames)
			}
		})
	}
}

// TestBroadcastAllocatesOnlyItsFrame publishes one message at a time, without Hold and Release. Each publish allocates
// only the frame that all connections share.
func TestBroadcastAllocatesOnlyItsFrame(t *testing.T) {
	const count = 100
	for _, e := range []Encoding{JSON, Protobuf} {
		h := New(quietOptions())
		conns := subscribedConns(t, h, count, []Encoding{e})
		m := Message{Data: []byte(strings.Repeat("x", 200))}
		allocs := testing.AllocsPerRun(100, func() {
			m.Seq++
			h.Publish("room", m)
			for _, c := range conns {
				c.awaitWritten()
			}
		})
		if allocs > 1 {
			t.Errorf("%v allocations for a push to %d connections, want only its frame", allocs, count)
		}
	}
}

// subscribedConns connects clients that are subscribed to "room". The clients read and discard what they receive.
func subscribedConns(t *testing.T, h *Hub, count int, encodings []Encoding) []*Conn {
	t.Helper()
	next := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		e := encodings[next%len(encodings)]
		next++
		h.Attach(ws, e, func(*Conn) Handler { return quiet{} }).Subscribe("room", 0, nil)
	}))
	t.Cleanup(func() {
		h.conns.Stop(func(c *Conn) { c.socket.Abort() })
		server.Close()
	})
	for n := range count {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		if err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, ws.NetConn())
		for h.Listeners("room") <= n {
			runtime.Gosched()
		}
	}
	return h.conns.List()
}

// awaitWritten waits until every frame queued for the connection is written.
func (c *Conn) awaitWritten() {
	for c.socket.QueuedBytes() > 0 {
		runtime.Gosched()
	}
}
