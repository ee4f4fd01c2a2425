package webpush

import (
	"log/slog"
	"testing"

	"hongbao/chat"
)

// TestAllQueuesTogetherAreBounded has as many notifications wait as may, whatever their hosts. One more must be dropped.
func TestAllQueuesTogetherAreBounded(t *testing.T) {
	s := newSender(Options{Log: slog.New(slog.DiscardHandler)})
	to := chat.Subscription{User: "ann", Endpoint: "https://push.example.com/ann"}
	s.waiting = mostWaiting
	s.send(t.Context(), to, note{})
	if n := s.dropped.Load(); n != 1 || len(s.hosts) != 0 {
		t.Errorf("%d dropped, %d hosts; want that the notification is dropped", n, len(s.hosts))
	}
}
