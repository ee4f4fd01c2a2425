package chat_test

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/store/sqlitestore"
)

// TestStop stops the service and closes the store while a room's count waits for its interval. No error may be logged.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := newTestService(t, chat.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		room := h.room(chat.Public, "ann")
		for _, u := range []string{"bob", "cyn"} {
			_, err := h.Join(h.ctx, person(u), room)
			h.must(err)
		}
		h.published.take()
		h.Stop()
		_, err := h.Join(h.ctx, person("dan"), room)
		h.must(err)
		h.must(h.store.Store.(*sqlitestore.Store).Close())
		time.Sleep(3 * time.Second)
		for _, published := range h.published.take() {
			if _, counted := published.Event.(chat.MembersCounted); counted {
				t.Errorf("published after the stop: %+v", published)
			}
		}
		if log.Len() > 0 {
			t.Errorf("logged after the stop: %s", &log)
		}
	})
}
