package events_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/store/eventlog"
	"hongbao/web/host/events"
	"hongbao/web/host/hostapi"
)

// countingStore counts the queries of readers.
type countingStore struct {
	events.Store
	reads, polls, retries atomic.Int32
}

func (s *countingStore) Events(ctx context.Context, q eventlog.Query) (eventlog.Batch, error) {
	s.reads.Add(1)
	return s.Store.Events(ctx, q)
}

func (s *countingStore) DueHolds(ctx context.Context, consumer string, now time.Time, limit int) ([]eventlog.Hold, error) {
	s.retries.Add(1)
	return s.Store.DueHolds(ctx, consumer, now, limit)
}

func (s *countingStore) NewestEvent(ctx context.Context) (eventlog.Cursor, error) {
	s.polls.Add(1)
	return s.Store.NewestEvent(ctx)
}

// TestWaitingReadersShareOneQuery lets many readers wait. While nothing happens they read once each, and one poll serves all. An event is
// given to all of them.
func TestWaitingReadersShareOneQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const readers = 40
		h := newTestHook(t)
		store := &countingStore{Store: h.store}
		kinds := eventlog.Kinds{eventlog.MessageNew: true}
		s := events.New(events.Options{Store: store, Kinds: kinds, Instance: "a", Keep: time.Hour, Most: 1000, Log: slog.New(slog.DiscardHandler), Now: h.now})
		after, err := h.store.NewestEvent(t.Context())
		noError(t, err)
		var all sync.WaitGroup
		var got atomic.Int32
		began := time.Now()
		for range readers {
			all.Go(func() {
				reply, err := s.Await(t.Context(), eventlog.Query{After: after, Kinds: kinds, Limit: 10}, 2*time.Minute)
				if err != nil || len(reply.Events) != 1 {
					t.Errorf("%d events, %v", len(reply.Events), err)
				}
				got.Add(1)
			})
		}
		for until := began.Add(time.Minute); (store.reads.Load() < readers || store.polls.Load() < 5) && time.Now().Before(until); {
			time.Sleep(5 * time.Millisecond)
		}
		reads, polls := store.reads.Load(), store.polls.Load()
		most := int32(time.Since(began)/(300*time.Millisecond)) + 1 // one poll every 300 ms
		if reads != readers || polls < 5 || polls > most || got.Load() > 0 {
			t.Errorf("%d reads and %d polls of %d readers, %d answered; want one read each, and 5 to %d polls", reads, polls, readers, got.Load(), most)
		}
		h.say("good", 1)
		all.Wait()
		polls = store.polls.Load()
		time.Sleep(time.Second)
		if more := store.polls.Load() - polls; more > 1 {
			t.Errorf("%d polls while nobody waits", more)
		}
		reply, err := s.Await(t.Context(), eventlog.Query{After: after, Kinds: eventlog.Kinds{eventlog.RoomDeleted: true}, Limit: 10}, 500*time.Millisecond)
		if err != nil || len(reply.Events) != 0 || reply.Next == after.String() {
			t.Errorf("without an event of the wanted kinds: %+v, %v; want a cursor that has gone on", reply, err)
		}
		time.Sleep(time.Second) // until the poll has ended
	})
}

// TestHeldEventsCatchUp holds many events of a room, while it gets more of them. When the host accepts them again, the room must catch up
// soon, and in order.
func TestHeldEventsCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 400
		h := newTestHook(t)
		h.answers(func(e hostapi.Event) int {
			if e.Data.Room == "bad" && e.Data.Entry != nil {
				return http.StatusUnprocessableEntity
			}
			return http.StatusOK
		})
		h.say("bad", many)
		h.say("good", 10)
		store := &countingStore{Store: h.store}
		h.run(h.serviceOver(store, "one"))
		h.wait("good", 10)
		for h.held() < many {
			time.Sleep(5 * time.Millisecond)
		}
		h.answers(func(hostapi.Event) int { return http.StatusOK })
		before := store.retries.Load()
		h.later(time.Hour)
		h.wait("bad", many)
		if rounds := store.retries.Load() - before; rounds > many/4 { // between two rounds the host gets other events, and there can be a pause
			t.Errorf("%d held events took %d rounds", many, rounds)
		}
	})
}

// TestPanickingDeliveryIsARefusal lets a delivery panic: it must not end the process.
func TestPanickingDeliveryIsARefusal(t *testing.T) {
	if err := events.Send(t.Context(), new(events.Webhook), eventlog.Event{ID: "e"}); err == nil {
		t.Error("a delivery by a webhook that is not set up succeeded")
	}
}
