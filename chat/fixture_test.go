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
	"hongbao/store/storetest"
)

// testService is a service over a real store, with a recorder of everything that the service publishes.
type testService struct {
	*testing.T
	*chat.Service
	store     *watchedStore
	published *recorder
	ctx       context.Context
}

// migrated is a migrated database without rows. A copy takes less time than the migrations.
var migrated = storetest.NewFileTemplate(sqlitestore.FileName, func(dir string) error {
	store, err := sqlitestore.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return store.Close()
})

func newTestService(t *testing.T, o chat.Options) *testService {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), migrated.Copy(t), slog.New(slog.DiscardHandler))
	noError(t, err)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &testService{T: t, store: &watchedStore{Store: store}, published: &recorder{}, ctx: t.Context()}
	h.Service = chat.New(h.store, h.published, o)
	return h
}

// restarted returns a second service over the same store, as after a restart with these options.
func (h *testService) restarted(o chat.Options) *testService {
	other := *h
	other.Service = chat.New(h.store, h.published, o)
	return &other
}

// watchedStore is a real store that counts calls of some methods, and calls a hook after some.
type watchedStore struct {
	chat.Store
	putUsers, epochs, standings atomic.Int32
	loaded                      func() // called after a standing was read
	written                     func() // called after a user was written
}

func (s *watchedStore) PutUser(ctx context.Context, p chat.Profile, issued int64) (chat.User, int64, error) {
	s.putUsers.Add(1)
	stored, notBefore, err := s.Store.PutUser(ctx, p, issued)
	if s.written != nil {
		s.written()
	}
	return stored, notBefore, err
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

// publication is one call of a Publisher: an entry, or an event to a room or a user.
type publication struct {
	To    string
	Entry int64
	Event chat.Event
}

// recorder is a Publisher that records its calls.
type recorder struct {
	mu      sync.Mutex
	all     []publication
	changed [][2]string
}

func (r *recorder) Entry(e chat.Entry)               { r.add(publication{To: e.Room, Entry: e.Seq}) }
func (r *recorder) ToRoom(room string, e chat.Event) { r.add(publication{To: room, Event: e}) }
func (r *recorder) ToUser(user string, e chat.Event) { r.add(publication{To: user, Event: e}) }
func (r *recorder) add(t publication)                { r.mu.Lock(); defer r.mu.Unlock(); r.all = append(r.all, t) }

// StandingChanged is recorded apart from publications, because only other instances get it.
func (r *recorder) StandingChanged(room, user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed = append(r.changed, [2]string{room, user})
}

// take returns what was published since the last take.
func (r *recorder) take() []publication {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// wantPublished fails the test unless exactly these publications were made since the last take or wantPublished.
func (h *testService) wantPublished(want ...publication) {
	h.Helper()
	if got := h.published.take(); !slices.Equal(got, want) {
		h.Errorf("published\n  %+v\nwant\n  %+v", got, want)
	}
}

// admit admits a user whose token says all about the user.
func (h *testService) admit(u chat.User, issued time.Time) error {
	_, err := h.Admit(h.ctx, chat.Profile{User: u}, issued)
	return err
}

func person(id string) chat.User { return chat.User{ID: id, Name: "Name of " + id} }

// room creates a room and makes its members known users. It drops what was published about the room.
func (h *testService) room(kind chat.RoomKind, owner string, members ...string) string {
	h.Helper()
	for _, u := range members {
		h.must(h.SignIn(h.ctx, person(u)))
	}
	id := chat.NewID(time.Now())
	m, _, err := h.CreateRoom(h.ctx, person(owner), chat.CreateRoom{Key: id, Name: "the room", Kind: kind, Members: members})
	h.must(err)
	h.published.take()
	return m.Room.ID
}

// largeRoom creates a public room with more members than a small room may have.
func (h *testService) largeRoom(owner string, members ...string) string {
	h.Helper()
	room := h.room(chat.Public, owner, members...)
	h.fill(room, chat.SmallRoom-len(members))
	h.Stop() // no member count is published later
	h.published.take()
	return room
}

// fill adds the users guest-0, guest-1, … to a room.
func (h *testService) fill(room string, n int) {
	h.Helper()
	users := make([]string, n)
	for i := range users {
		users[i] = fmt.Sprint("guest-", i)
	}
	if done, err := h.AddMembers(h.ctx, room, users, false); err != nil || done.Changed != n {
		h.Fatalf("added %+v, %v, want %d members", done, err, n)
	}
}

func (h *testService) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// refused fails the test unless err is the expected error.
func (h *testService) refused(err, want error) {
	h.Helper()
	if !errors.Is(err, want) {
		h.Errorf("got error %v, want %v", err, want)
	}
}

func (h *testService) sendText(room, from, key string) chat.Receipt {
	h.Helper()
	r, err := h.Send(h.ctx, person(from), chat.Message{Room: room, Key: key, Text: "hello"})
	h.must(err)
	return r
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
