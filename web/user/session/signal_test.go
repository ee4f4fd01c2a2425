package session

import (
	"testing"

	"hongbao/web/user/push"
)

// TestFullQueueKeepsCloses adds signals to a full queue. Those that close sockets must be kept: nothing repeats them.
func TestFullQueueKeepsCloses(t *testing.T) {
	var q signalQueue
	for range maxSignals + 10 {
		q.add(opening, push.Signal{Room: "room"})
	}
	q.add(opening, push.Signal{Close: &push.Close{Code: 1}})
	if len(q.list) != maxSignals+1 || q.list[maxSignals].Close == nil {
		t.Errorf("%d signals are queued, want %d and the one that closes", len(q.list), maxSignals)
	}
}
