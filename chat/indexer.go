package chat

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// indexAfter is how long new entries wait, so that one transaction takes those of many rooms. Only if more rooms or entries wait than one takes,
	// the next comes sooner.
	indexAfter = time.Second
	// indexShare is the part of the time, 1/indexShare, in which the index may be written: sends come first. While more is sent than that allows, the
	// index falls behind, and catches up later.
	indexShare = 10
	// A transaction takes at most indexedEntries entries, of at most indexedRooms rooms: with SQLite, sends wait for it.
	indexedRooms, indexedEntries = 50, 300
	// mostUnindexed bounds the rooms that wait. A room over the bound waits for its next entry, or for the next search in it.
	mostUnindexed = 100_000
	// After an error, the next transaction comes indexPause later at least. After indexFailures errors the database is the cause, and not a room.
	indexPause    = 5 * time.Second
	indexFailures = 3
)

// Indexer puts entries into the index in which Store.Search looks, some time after they are committed. It learns of them as a Publisher, which hands
// everything on. An entry that it misses, because its instance has ended, is found by reading the room itself, and the search then tells the
// Indexer of that room (Found.Unindexed).
type Indexer struct {
	Publisher // static; to which everything goes on

	store Store         // static
	log   *slog.Logger  // static
	wake  chan struct{} // static; holds a value while rooms wait

	mu    sync.Mutex
	rooms map[string]struct{} // guarded by mu; that have entries which may not be in the index
}

// NewIndexer returns an Indexer that is not running yet. It hands everything on to next.
func NewIndexer(store Store, next Publisher, log *slog.Logger) *Indexer {
	return &Indexer{Publisher: next, store: store, log: log, wake: make(chan struct{}, 1), rooms: map[string]struct{}{}}
}

// Entry implements Publisher.
func (i *Indexer) Entry(e Entry) {
	i.Publisher.Entry(e)
	i.add(e.Room)
}

// Waiting returns the number of rooms that have entries which may not be in the index, as far as this instance knows.
func (i *Indexer) Waiting() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.rooms)
}

func (i *Indexer) add(rooms ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, room := range rooms {
		if len(i.rooms) < mostUnindexed {
			i.rooms[room] = struct{}{}
		}
	}
	if len(i.rooms) > 0 {
		select {
		case i.wake <- struct{}{}:
		default:
		}
	}
}

// Run writes the index until ctx is done.
func (i *Indexer) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-i.wake:
		}
		for pause := indexAfter; wait(ctx, pause); {
			rooms := i.take()
			if len(rooms) == 0 {
				break
			}
			began := time.Now()
			least, left := i.index(ctx, rooms)
			pause = max(least, (indexShare-1)*time.Since(began))
			if len(rooms) < indexedRooms && !left {
				pause = max(pause, indexAfter)
			}
		}
	}
}

// take returns rooms that wait, at most indexedRooms.
func (i *Indexer) take() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var rooms []string
	for room := range i.rooms {
		if len(rooms) == indexedRooms {
			break
		}
		rooms = append(rooms, room)
		delete(i.rooms, room)
	}
	return rooms
}

// index puts the next entries of the rooms into the index. If that fails, it tries each room by itself, so that a room with a bad entry keeps out only
// itself. It returns how long to wait at least before the next call, and whether the rooms may have other entries.
func (i *Indexer) index(ctx context.Context, rooms []string) (pause time.Duration, more bool) {
	left, err := i.store.IndexEntries(ctx, rooms, indexedEntries)
	i.add(left...)
	if err == nil {
		return 0, len(left) > 0
	}
	failed := 0
	for _, room := range rooms {
		if left, err = i.store.IndexEntries(ctx, []string{room}, 1); err != nil {
			i.log.Warn("entries not put into the index of the search", "room", room, "err", err)
			failed++
		}
		i.add(left...)
		if failed == indexFailures || ctx.Err() != nil {
			i.add(rooms...)
			break
		}
	}
	return indexPause, true
}

// wait waits, and returns false if ctx ends meanwhile.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
