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

// TestStop: the store may be closed while a room's count is still held back, and nobody complains about it.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := newHouse(t, chat.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		room := h.room(chat.Public, "ann")
		for _, u := range []string{"bob", "cyn"} {
			_, err := h.Join(h.ctx, person(u), room)
			h.must(err)
		}
		h.told.take()
		h.Stop()
		_, err := h.Join(h.ctx, person("dan"), room)
		h.must(err)
		h.must(h.store.Store.(*sqlitestore.Store).Close())
		time.Sleep(3 * time.Second)
		for _, told := range h.told.take() {
			if _, counted := told.Event.(chat.MembersCounted); counted {
				t.Errorf("told after the stop: %+v", told)
			}
		}
		if log.Len() > 0 {
			t.Errorf("logged after the stop: %s", &log)
		}
	})
}
