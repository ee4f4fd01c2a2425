package chat_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

// searching returns a testService with a search, whose Indexer is not running.
func searching(t *testing.T) (*testService, *chat.Indexer) {
	t.Helper()
	h := newTestService(t, chat.Options{})
	indexer := chat.NewIndexer(h.store, h.published, slog.New(slog.DiscardHandler))
	h.Service = chat.New(h.store, indexer, chat.Options{Indexer: indexer})
	return h, indexer
}

func (h *testService) says(user, room, text string) {
	h.Helper()
	_, err := h.Send(h.ctx, person(user), chat.Message{Room: room, Key: chat.NewID(time.Now()), Text: text})
	h.must(err)
}

func TestSearchRefusesBadRequests(t *testing.T) {
	h, _ := searching(t)
	room := h.room(chat.Private, "ann")
	long := make([]byte, 201)
	for i := range long {
		long[i] = 'a'
	}
	for name, c := range map[string]struct {
		typed string
		chat.Search
		field string
		want  error
	}{
		"nothing":            {"", chat.Search{User: "ann"}, "words", chat.ErrBadRequest},
		"only signs":         {"!? 🧧", chat.Search{User: "ann"}, "words", chat.ErrBadRequest},
		"a long query":       {string(long), chat.Search{User: "ann"}, "words", chat.ErrTooLong},
		"a kind":             {"a", chat.Search{User: "ann", Kind: chat.KindRecall}, "kind", chat.ErrBadRequest},
		"a limit":            {"a", chat.Search{User: "ann", Limit: -1}, "limit", chat.ErrBadRequest},
		"a cursor":           {"a", chat.Search{User: "ann", Next: "x"}, "next", chat.ErrBadRequest},
		"a stranger":         {"a", chat.Search{User: "bob", Room: room}, "", chat.ErrNotFound},
		"no room":            {"a", chat.Search{User: "ann", Room: "none"}, "", chat.ErrNotFound},
		"the system":         {"a", chat.Search{User: chat.System.ID}, "room", chat.ErrBadRequest},
		"the system, nobody": {"a", chat.Search{User: chat.System.ID, Room: "none"}, "", chat.ErrNotFound},
	} {
		_, err := h.Search(h.ctx, c.typed, c.Search)
		var field *chat.FieldError
		if !errors.Is(err, c.want) || c.field != "" && (!errors.As(err, &field) || field.Field != c.field) {
			t.Errorf("%s: %v, want %v of %q", name, err, c.want, c.field)
		}
	}
	if h.QueryChars() != 200 {
		t.Errorf("queries of %d characters", h.QueryChars())
	}
	off := h.restarted(chat.Options{})
	if _, err := off.Search(h.ctx, "a", chat.Search{User: "ann"}); !errors.Is(err, chat.ErrBadRequest) || off.QueryChars() != 0 {
		t.Errorf("without a search: %v, queries of %d characters", err, off.QueryChars())
	}
}

// TestIndexerFollowsTheEntries sends texts. The Indexer must put them into the index, also those that it has not been told of, once a search has met
// them.
func TestIndexerFollowsTheEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, indexer := searching(t)
		room := h.room(chat.Private, "ann", "bob")
		defer h.Stop()
		ctx, stop := context.WithCancel(h.ctx)
		var running sync.WaitGroup
		running.Go(func() { indexer.Run(ctx) })
		defer running.Wait()
		defer stop()
		unindexed := func() int {
			found, err := h.Search(h.ctx, "hello", chat.Search{User: "bob"})
			h.must(err)
			if len(found.Hits) == 0 {
				t.Error("not found")
			}
			return len(found.Unindexed)
		}
		h.says("ann", room, "hello")
		if unindexed() != 1 {
			t.Error("indexed before the answer: that delays sends")
		}
		time.Sleep(2 * time.Second)
		if unindexed() != 0 {
			t.Error("not indexed after 2 s")
		}
		other := chat.New(h.store, h.published, chat.Options{}) // of an instance that ended before it could index
		if _, err := other.Send(h.ctx, person("ann"), chat.Message{Room: room, Key: "other", Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if unindexed() != 1 {
			t.Error("indexed, though nobody has told the Indexer")
		}
		time.Sleep(2 * time.Second)
		if unindexed() != 0 {
			t.Error("not indexed after the search")
		}
	})
}

// badRoomStore fails to index one room, or all.
type badRoomStore struct {
	chat.Store
	bad   string // "": all
	calls [][]string
}

func (s *badRoomStore) IndexEntries(_ context.Context, rooms []string, _ int) ([]string, error) {
	s.calls = append(s.calls, rooms)
	if s.bad == "" || slices.Contains(rooms, s.bad) {
		return nil, chat.ErrUnavailable
	}
	time.Sleep(100 * time.Millisecond)
	return nil, nil
}

// TestIndexerOfABadRoom has a room whose entries cannot be indexed, and a store that is out of reach. A bad room keeps out only itself; a store that
// fails is asked rarely. The Indexer writes for a tenth of the time at most.
func TestIndexerOfABadRoom(t *testing.T) {
	for name, bad := range map[string]string{"one room": "room 7", "all": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &badRoomStore{bad: bad}
				indexer := chat.NewIndexer(store, &recorder{}, slog.New(slog.DiscardHandler))
				ctx, stop := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { indexer.Run(ctx) })
				for n := range 120 {
					indexer.Entry(chat.Entry{Room: fmt.Sprint("room ", n), Kind: chat.KindText})
				}
				time.Sleep(time.Minute)
				stop()
				running.Wait()
				done := map[string]int{}
				for _, rooms := range store.calls {
					if bad != "" && !slices.Contains(rooms, bad) {
						for _, room := range rooms {
							done[room]++
						}
					}
				}
				if bad != "" && (len(done) != 119 || done[bad] != 0) {
					t.Errorf("%d rooms are indexed, want 119", len(done))
				}
				if most := map[bool]int{true: 55, false: 60}[bad == ""]; len(store.calls) > most {
					t.Errorf("%d calls in a minute, want at most %d", len(store.calls), most)
				}
			})
		})
	}
}

// slowIndexStore takes some time to index entries, and then there are more.
type slowIndexStore struct {
	chat.Store
	takes time.Duration
	calls int
}

func (s *slowIndexStore) IndexEntries(_ context.Context, rooms []string, _ int) ([]string, error) {
	s.calls++
	time.Sleep(s.takes)
	return rooms, nil
}

// TestIndexerLeavesTime has more entries of one room to index than can be. The index must be written for a tenth of the time, and not more.
func TestIndexerLeavesTime(t *testing.T) {
	for _, takes := range []time.Duration{10 * time.Millisecond, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			store := &slowIndexStore{takes: takes}
			indexer := chat.NewIndexer(store, &recorder{}, slog.New(slog.DiscardHandler))
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { indexer.Run(ctx) })
			indexer.Entry(chat.Entry{Room: "hall", Kind: chat.KindText})
			time.Sleep(time.Second + 100*takes) // the first entry waits for others
			stop()
			running.Wait()
			if store.calls < 8 || store.calls > 11 {
				t.Errorf("%d calls of %s in %s, want 10", store.calls, takes, 100*takes)
			}
		})
	}
}

// countingStore counts how often each room is indexed.
type countingStore struct {
	chat.Store
	rooms map[string]int
}

func (s *countingStore) IndexEntries(_ context.Context, rooms []string, _ int) ([]string, error) {
	for _, room := range rooms {
		s.rooms[room]++
	}
	return nil, nil
}

// TestUnindexedRoomsAreBounded has entries in more rooms than may wait.
func TestUnindexedRoomsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{rooms: map[string]int{}}
		indexer := chat.NewIndexer(store, &recorder{}, slog.New(slog.DiscardHandler))
		for n := range 100_010 {
			indexer.Entry(chat.Entry{Room: fmt.Sprint("room ", n), Kind: chat.KindText})
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { indexer.Run(ctx) })
		time.Sleep(time.Minute)
		stop()
		running.Wait()
		if len(store.rooms) != 100_000 {
			t.Errorf("%d rooms are indexed, want 100,000", len(store.rooms))
		}
	})
}
