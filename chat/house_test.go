package chat_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/sqlitestore"
)

// house is a service over a real store, with a record of all that it told.
type house struct {
	*testing.T
	*chat.Service
	store *watchedStore
	told  *record
	ctx   context.Context
}

func newHouse(t *testing.T, o chat.Options) *house {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &house{T: t, store: &watchedStore{Store: store}, told: &record{}, ctx: t.Context()}
	h.Service = chat.New(h.store, h.told, o)
	return h
}

// again is another service over the same store, as after a restart with other options.
func (h *house) again(o chat.Options) *house {
	other := *h
	other.Service = chat.New(h.store, h.told, o)
	return &other
}

// watchedStore is a real store that counts some of its calls, and can be held up in one of them.
type watchedStore struct {
	chat.Store
	putUsers, epochs, standings atomic.Int32
	loaded                      func() // called after a standing was read
	written                     func() // called after a user was written
}

func (s *watchedStore) PutUser(ctx context.Context, u chat.User, issued int64) (int64, error) {
	s.putUsers.Add(1)
	notBefore, err := s.Store.PutUser(ctx, u, issued)
	if s.written != nil {
		s.written()
	}
	return notBefore, err
}

func (s *watchedStore) Epoch(ctx context.Context) (string, error) {
	s.epochs.Add(1)
	return s.Store.Epoch(ctx)
}

func (s *watchedStore) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	s.standings.Add(1)
	st, err := s.Store.Standing(ctx, room, user)
	if s.loaded != nil {
		s.loaded()
	}
	return st, err
}

// telling is one call of a Publisher: an entry, or an event to a room or a user.
type telling struct {
	To    string
	Entry int64
	Event chat.Event
}

// record is a Publisher that keeps what it is told.
type record struct {
	mu    sync.Mutex
	all   []telling
	moved [][2]string
}

func (r *record) Entry(e chat.Entry)               { r.add(telling{To: e.Room, Entry: e.Seq}) }
func (r *record) ToRoom(room string, e chat.Event) { r.add(telling{To: room, Event: e}) }
func (r *record) ToUser(user string, e chat.Event) { r.add(telling{To: user, Event: e}) }
func (r *record) add(t telling)                    { r.mu.Lock(); defer r.mu.Unlock(); r.all = append(r.all, t) }

// Moved goes to the other instances only, and is kept apart.
func (r *record) Moved(room, user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moved = append(r.moved, [2]string{room, user})
}

// take gives what was told since the last take.
func (r *record) take() []telling {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// heard fails the test unless exactly this was told since the last look.
func (h *house) heard(want ...telling) {
	h.Helper()
	if got := h.told.take(); !slices.Equal(got, want) {
		h.Errorf("told\n  %+v\nwant\n  %+v", got, want)
	}
}

func person(id string) chat.User { return chat.User{ID: id, Name: "Name of " + id} }

// room makes a room whose members are known, and forgets what was told about it.
func (h *house) room(kind chat.RoomKind, owner string, members ...string) string {
	h.Helper()
	for _, u := range members {
		h.must(h.SignIn(h.ctx, person(u)))
	}
	id := chat.NewID(time.Now())
	m, _, err := h.CreateRoom(h.ctx, person(owner), chat.CreateRoom{Key: id, Name: "the room", Kind: kind, Members: members})
	h.must(err)
	h.told.take()
	return m.Room.ID
}

// largeRoom is a public room of more members than a small one may have.
func (h *house) largeRoom(owner string, members ...string) string {
	h.Helper()
	room := h.room(chat.Public, owner, members...)
	var joining sync.WaitGroup // at once, they share the store's commits
	for i := len(members); i < chat.SmallRoom; i++ {
		joining.Go(func() {
			if _, err := h.Join(h.ctx, person(fmt.Sprint("guest-", i)), room); err != nil {
				h.Error(err)
			}
		})
	}
	joining.Wait()
	h.Stop() // no count of them comes later
	h.told.take()
	return room
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// refused fails the test unless err is the refusal that is due.
func (h *house) refused(err, want error) {
	h.Helper()
	if !errors.Is(err, want) {
		h.Errorf("got error %v, want %v", err, want)
	}
}

func (h *house) say(room, from, key string) chat.Receipt {
	h.Helper()
	r, err := h.Send(h.ctx, person(from), chat.Message{Room: room, Key: key, Text: "hello"})
	h.must(err)
	return r
}
