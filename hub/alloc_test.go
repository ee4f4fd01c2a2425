//go:build !race

// Under the race detector a sync.Pool drops items at random.

package hub

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// TestDeliveryAllocatesNothing: what a broadcast allocates is its frame, once, however many connections it goes to.
func TestDeliveryAllocatesNothing(t *testing.T) {
	h := New(quietOptions())
	const count = 100
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		h.Attach(ws, JSON, func(*Conn) Handler { return quiet{} }).Subscribe("room", 0, nil)
	}))
	for range count {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		if err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, ws.NetConn().(*net.TCPConn))
	}
	for h.Listeners("room") < count {
		runtime.Gosched()
	}
	conns := h.connections()
	m := Message{Data: []byte(strings.Repeat("x", 200))}
	allocs := testing.AllocsPerRun(100, func() {
		m.Seq++
		h.Publish("room", m)
		for _, c := range conns {
			for c.queued.Load() > 0 {
				runtime.Gosched()
			}
		}
	})
	if allocs > 2 {
		t.Errorf("%v allocations for %d deliveries, want the frame's only", allocs, count)
	}
	h.hangUpAll()
	server.Close()
}
