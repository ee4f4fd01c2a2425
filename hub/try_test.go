package hub_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

// TestRepliesThatTheSocketDoesNotTakeAtOnce are made by the reader of a client who does not read yet: they hold it up as little
// as anybody, and come whole and in order.
func TestRepliesThatTheSocketDoesNotTakeAtOnce(t *testing.T) {
	for _, test := range []struct {
		name     string
		together int // so many are flushed together, the others sent alone
		sizes    []int
	}{
		{"what fits into one write", 1, []int{900_000, 20, 40_000, 30}},
		{"what takes several", 2, []int{10, 900_000, 20}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := start(t, newStore().options())
			var want []string
			for i, size := range test.sizes {
				want = append(want, strings.Repeat(string(rune('a'+i)), size))
			}
			answered := make(chan struct{})
			c := listenFor(t, h, 64<<10, func(conn *hub.Conn) hub.Handler {
				return &session{conn: conn, onFrame: func(string) {
					for i, reply := range want[:test.together] {
						if conn.Queue([]byte(reply)) != (i == 0) {
							t.Error("it is not the first who is to flush")
						}
					}
					conn.Flush()
					for _, reply := range want[test.together:] {
						conn.Send([]byte(reply))
					}
					close(answered)
				}}
			})()
			c.write(t, websocket.TextMessage, "ask")
			<-answered
			if h.Stats().QueuedBytes == 0 {
				t.Error("all of it was taken at once")
			}
			go c.read()
			eventually(t, "everything to come", func() bool { return len(c.received()) >= len(want) })
			if !slices.Equal(c.received(), want) {
				t.Error("something else came than was sent")
			}
			eventually(t, "nothing to be left", func() bool { return h.Stats().QueuedBytes == 0 })
		})
	}
}
