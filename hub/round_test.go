package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestWhatTheSocketDoesNotTakeAtOnce publishes, to a client that does not read yet and to one that does, more than the
// system keeps for them. It holds up nobody, and comes whole and in order.
func TestWhatTheSocketDoesNotTakeAtOnce(t *testing.T) {
	s := newStore()
	h := start(t, s.options())
	accept := listen(t, h, 64<<10)
	late := accept()
	eventually(t, "one to subscribe", func() bool { return h.Listeners("room") == 1 })
	early := accept()
	eventually(t, "both to subscribe", func() bool { return h.Listeners("room") == 2 })
	go early.read()
	var want []string
	for i, size := range []int{900_000, 10, 40_000, 20} {
		text := strings.Repeat(string(rune('a'+i)), size)
		m := s.commit("room", text)
		h.Publish("room", m)
		want = append(want, fmt.Sprintf("room:%d:%s", m.Seq, text))
		eventually(t, "it to come to who reads", func() bool { return len(early.received()) == len(want) })
	}
	if h.Stats().QueuedBytes == 0 {
		t.Error("all of it was taken at once")
	}
	go late.read()
	eventually(t, "everything to come", func() bool { return len(late.received()) >= len(want) })
	if !slices.Equal(early.received(), want) || !slices.Equal(late.received(), want) {
		t.Error("something else came than was sent")
	}
	eventually(t, "nothing to be left", func() bool { return h.Stats().QueuedBytes == 0 })
}
