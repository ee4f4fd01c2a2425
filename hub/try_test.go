package hub_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

// TestRepliesThatTheSocketDoesNotTakeAtOnce are made by the reader of a client who does not read yet: they hold it up as little
// as anybody, and come whole and in order.
func TestRepliesThatTheSocketDoesNotTakeAtOnce(t *testing.T) {
	h := start(t, newStore().options())
	var want []string
	for i, size := range []int{10, 3_000_000, 20, 40_000, 30} {
		want = append(want, strings.Repeat(string(rune('a'+i)), size))
	}
	answered := make(chan *hub.Conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		h.Attach(ws, hub.JSON, func(c *hub.Conn) hub.Handler {
			return &session{conn: c, onFrame: func(string) {
				flush := c.Queue([]byte(want[0]))
				if c.Queue([]byte(want[1])) || !flush {
					t.Error("somebody else was asked to flush")
				}
				c.Flush()
				for _, reply := range want[2:] {
					c.Send([]byte(reply))
				}
				answered <- c
			}}
		})
	}))
	defer server.Close()
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.WriteMessage(websocket.TextMessage, []byte("ask")); err != nil {
		t.Fatal(err)
	}
	<-answered
	if h.Stats().QueuedBytes == 0 {
		t.Error("all of it was taken at once")
	}
	c := &client{ws: ws, done: make(chan struct{})}
	go c.read()
	eventually(t, "everything to come", func() bool { return len(c.received()) >= len(want) })
	if !slices.Equal(c.received(), want) {
		t.Error("something else came than was sent")
	}
	eventually(t, "nothing to be left", func() bool { return h.Stats().QueuedBytes == 0 })
}
