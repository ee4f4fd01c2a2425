package events

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/store/eventlog"
)

// heldStore is a Store with a key that has held events.
type heldStore struct {
	Store
	held int
}

func (s heldStore) HeldKeys(context.Context, string) ([]string, int, error) {
	return []string{"room r"}, s.held, nil
}

// TestHeldEventsAreBounded holds more events of a key than may be held. Those beyond maxHeld must be parked at once.
func TestHeldEventsAreBounded(t *testing.T) {
	s := delivery{New(Options{Store: heldStore{held: maxHeld - 2}, Log: slog.New(slog.DiscardHandler), Now: time.Now})}
	var b eventlog.Batch
	for range 5 {
		b.Events = append(b.Events, eventlog.Event{Kind: eventlog.MessageNew, Room: "r"})
	}
	held, err := s.deliverBatch(t.Context(), b, 0)
	if err != nil || len(held) != 5 {
		t.Fatalf("%d events are held, %v; want 5", len(held), err)
	}
	for i, h := range held {
		if h.Parked != (i >= 2) {
			t.Errorf("event %d of 5 is parked: %v, with %d held before and a bound of %d", i+1, h.Parked, maxHeld-2, maxHeld)
		}
	}
}

// aheadStore has a newest row that no reader gets: it was deleted, or its fact is not visible yet.
type aheadStore struct {
	Store
	newest eventlog.Cursor
	reads  int
}

func (s *aheadStore) NewestEvent(context.Context) (eventlog.Cursor, error) { return s.newest, nil }

func (s *aheadStore) Events(ctx context.Context, q eventlog.Query) (eventlog.Batch, error) {
	if s.reads++; s.reads > 10_000 {
		<-ctx.Done() // the reader spins
		return eventlog.Batch{}, ctx.Err()
	}
	return eventlog.Batch{Next: q.After}, nil
}

func waiting(s *aheadStore) *Service {
	return New(Options{Store: s, Log: slog.New(slog.DiscardHandler), Now: time.Now})
}

// TestWaitingReaderDoesNotSpin waits for events while the newest row cannot be read. The reader must look for it no more often than it polls.
func TestWaitingReaderDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &aheadStore{newest: eventlog.Cursor{Epoch: "e", Read: map[int64]int64{1: 5}}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := waiting(store).await(ctx, eventlog.Query{After: eventlog.Cursor{Epoch: "e"}, Limit: 10}, 30*time.Second); err != nil {
			t.Error(err)
		}
		if most := int(30*time.Second/pollEvery) + 2; store.reads < 50 || store.reads > most {
			t.Errorf("%d reads in 30 s, want 50 to %d", store.reads, most)
		}
		time.Sleep(time.Second) // the poll ends
	})
}

// TestNewestPositionIsNotKept lets all requests end. Then the newest row is deleted. The next request must wait for a new poll, and not take the old position
// for news.
func TestNewestPositionIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &aheadStore{newest: eventlog.Cursor{Epoch: "e", Read: map[int64]int64{1: 5}}}
		s := waiting(store)
		after := eventlog.Cursor{Epoch: "e", Read: map[int64]int64{1: 5}}
		if _, err := s.await(t.Context(), eventlog.Query{After: after, Limit: 10}, time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		store.newest, store.reads = eventlog.Cursor{Epoch: "e"}, 0
		if _, err := s.await(t.Context(), eventlog.Query{After: store.newest, Limit: 10}, pollEvery/2); err != nil {
			t.Fatal(err)
		}
		if store.reads != 1 {
			t.Errorf("%d reads before a poll, want one", store.reads)
		}
		time.Sleep(time.Minute)
	})
}
