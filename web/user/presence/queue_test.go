package presence

import (
	"fmt"
	"testing"
)

// TestQueueIsBoundedByTheSockets opens and closes very many sockets while the directory does not answer. The queue must not grow with them, and keep the
// order of what remains.
func TestQueueIsBoundedByTheSockets(t *testing.T) {
	tracker := New(Options{})
	tracker.SocketClosed("ann", "opened before")
	for i := range 100_000 {
		socket := fmt.Sprint("s", i)
		tracker.SocketOpened("ann", socket)
		if i >= 10 && i < 99_990 {
			tracker.SocketClosed("ann", socket)
		}
		if n := len(tracker.queue); n > 64 {
			t.Fatalf("%d changes are queued after %d sockets", n, i+1)
		}
	}
	var left []string
	for _, c := range tracker.queue {
		if (c != socketChange{}) {
			left = append(left, c.socket)
		}
	}
	if len(left) != 21 || left[0] != "opened before" || left[1] != "s0" || left[10] != "s9" || left[11] != "s99990" || left[20] != "s99999" {
		t.Errorf("left are %q", left)
	}
	for i := range 10 {
		tracker.SocketClosed("ann", fmt.Sprint("s", i))
	}
	if n := len(tracker.opened); n != 10 {
		t.Errorf("%d sockets count as opened, want 10", n)
	}
}
