package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hongbao/hub"
)

// TestBroadcastBeyondTheSocketBuffer publishes more than the kernel buffers, to two clients. One does not read at
// first. The other must not be delayed, and both must receive everything in order.
func TestBroadcastBeyondTheSocketBuffer(t *testing.T) {
	s := newStore()
	h := start(t, s.options())
	accept := listen(t, h, 64<<10)
	waiting := accept()
	eventually(t, "the first client to subscribe", func() bool { return h.Listeners("room") == 1 })
	reading := accept()
	eventually(t, "both to subscribe", func() bool { return h.Listeners("room") == 2 })
	go reading.read()
	var want []string
	for i, size := range []int{900_000, 10, 40_000, 20} {
		text := strings.Repeat(string(rune('a'+i)), size)
		m := s.commit("room", text)
		h.Publish("room", m)
		want = append(want, fmt.Sprintf("room:%d:%s", m.Seq, text))
		eventually(t, "the client that reads to get it", func() bool { return len(reading.received()) == len(want) })
	}
	if h.Stats().QueuedBytes == 0 {
		t.Error("the kernel has buffered everything, so nothing was tested")
	}
	go waiting.read()
	eventually(t, "everything to come", func() bool { return len(waiting.received()) >= len(want) })
	if !slices.Equal(reading.received(), want) || !slices.Equal(waiting.received(), want) {
		t.Error("the messages received differ from those sent")
	}
	eventually(t, "nothing to be left", func() bool { return h.Stats().QueuedBytes == 0 })
}

// TestRepliesBeyondTheSocketBuffer sends more replies than the kernel buffers to a client that does not read at first.
// The handler must not block. The client must receive all replies complete and in order.
func TestRepliesBeyondTheSocketBuffer(t *testing.T) {
	for _, test := range []struct {
		name     string
		together int // how many replies are flushed together; the others are sent one by one
		sizes    []int
	}{
		{"each in one write", 1, []int{900_000, 20, 40_000, 30}},
		{"several writes", 2, []int{10, 900_000, 20}},
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
							t.Error("Queue asks for a Flush for another message than the first")
						}
					}
					conn.Flush()
					for _, reply := range want[test.together:] {
						conn.Send([]byte(reply))
					}
					close(answered)
				}}
			})()
			c.write(t, "ask")
			<-answered
			if h.Stats().QueuedBytes == 0 {
				t.Error("the kernel has buffered everything, so nothing was tested")
			}
			go c.read()
			eventually(t, "everything to come", func() bool { return len(c.received()) >= len(want) })
			if !slices.Equal(c.received(), want) {
				t.Error("the messages received differ from those sent")
			}
			eventually(t, "nothing to be left", func() bool { return h.Stats().QueuedBytes == 0 })
		})
	}
}
