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

// TestDeliveryAllocatesNothing: what a broadcast allocates is its frame, once for each encoding, however many connections
// it goes to, and be it written alone or joined with others.
func TestDeliveryAllocatesNothing(t *testing.T) {
	const count = 100
	for _, test := range []struct {
		name   string
		listen []Encoding // in turn
		pushes int        // that are written together
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
			conns := crowd(t, h, count, test.listen)
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
					c.awaitFlusher()
				}
			})
			if frames := float64(test.pushes * len(test.listen)); allocs > frames {
				t.Errorf("%v allocations for %d deliveries of %d pushes, want the %v frames only", allocs, count*test.pushes, test.pushes, frames)
			}
		})
	}
}

// TestRoundAllocatesNothing: nor does what is written at once, without being held.
func TestRoundAllocatesNothing(t *testing.T) {
	const count = 100
	for _, e := range []Encoding{JSON, Protobuf} {
		h := New(quietOptions())
		conns := crowd(t, h, count, []Encoding{e})
		m := Message{Data: []byte(strings.Repeat("x", 200))}
		allocs := testing.AllocsPerRun(100, func() {
			m.Seq++
			h.Publish("room", m)
			for _, c := range conns {
				c.awaitFlusher()
			}
		})
		if allocs > 1 {
			t.Errorf("%v allocations for a push to %d connections, want its frame only", allocs, count)
		}
	}
}

// crowd connects as many clients, which listen to "room" and discard what comes.
func crowd(t *testing.T, h *Hub, count int, encodings []Encoding) []*Conn {
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
		h.hangUpAll()
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
	return h.connections()
}

// awaitFlusher waits until everything is written and the flusher has ended.
func (c *Conn) awaitFlusher() {
	for {
		c.mu.Lock()
		flushing := c.flushing
		c.mu.Unlock()
		if !flushing {
			return
		}
		runtime.Gosched()
	}
}
