package events_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/store/eventlog"
	"hongbao/web/host/events"
)

// logged is a log that a test reads.
type logged struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// TestLags measures a consumer that has read all, and one that has read nothing.
func TestLags(t *testing.T) {
	h := newTestHook(t)
	kinds, err := eventlog.ParseKinds([]string{"message.*", "room.created"})
	noError(t, err)
	log := &logged{}
	s := events.New(events.Options{
		Store: h.store, Kinds: kinds, Instance: "a", Keep: time.Hour, Most: 1000, Log: slog.New(slog.NewTextHandler(log, nil)), Now: h.now,
	})
	at := func(consumer string, cursor eventlog.Cursor, err error) {
		t.Helper()
		if err == nil {
			err = h.store.PutConsumer(t.Context(), eventlog.Consumer{Name: consumer, After: cursor.String(), UpdatedAt: h.now()})
		}
		noError(t, err)
	}
	oldest, err := h.store.OldestEvent(t.Context())
	at("behind", oldest, err)
	newest, err := h.store.NewestEvent(t.Context())
	at("ahead", newest, err)
	if lags := s.Lags(); len(lags) != 0 {
		t.Errorf("lags %v before the first measurement", lags)
	}
	want := func(behind, most time.Duration, warnings int) {
		t.Helper()
		s.MeasureLags(t.Context())
		lags := s.Lags()
		if lags["ahead"] != 0 || lags["behind"] < behind || lags["behind"] > most || len(lags) != 2 {
			t.Errorf("lags %v, want behind %v to %v and ahead 0", lags, behind, most)
		}
		log.mu.Lock()
		defer log.mu.Unlock()
		if n := strings.Count(log.text.String(), "consumer is late"); n != warnings {
			t.Errorf("%d warnings, want %d:\n%s", n, warnings, log.text.String())
		}
	}
	want(0, time.Minute, 0)
	h.later(20 * time.Minute)
	want(20*time.Minute, 21*time.Minute, 0)
	h.later(20 * time.Minute)
	want(40*time.Minute, 41*time.Minute, 1)
	want(40*time.Minute, 41*time.Minute, 1) // it warns once
}
