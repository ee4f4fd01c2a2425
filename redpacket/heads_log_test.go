package redpacket_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"hongbao/redpacket"
)

// TestRunLogsHeadsAtItsEnd stops the service after a credit, twice. The log has the head once.
func TestRunLogsHeadsAtItsEnd(t *testing.T) {
	h := newTestService(t, "ann")
	h.credit(t, "ann", 100)
	var log bytes.Buffer
	packets := redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.NewTextHandler(&log, nil))})
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for range 2 {
		if err := packets.Run(stopped); err != nil {
			t.Fatal(err)
		}
	}
	heads, err := h.store.Heads(t.Context())
	if err != nil || len(heads) != 1 {
		t.Fatalf("heads %v, %v", heads, err)
	}
	if got := strings.Count(log.String(), heads[0].String()); got != 1 {
		t.Errorf("the head %v is logged %d times: %s", heads[0], got, &log)
	}
}
