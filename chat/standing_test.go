package chat_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"hongbao/chat"
	"hongbao/store/sqlitestore"
)

func (h *testService) standing(room, user string) chat.Standing {
	h.Helper()
	st, err := h.Standing(h.ctx, room, user)
	h.must(err)
	return st
}

func TestStandingIsRememberedAndExact(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	wantStanding := func(user string, want chat.Standing) {
		t.Helper()
		for range 2 {
			if got := h.standing(room, user); got != want {
				t.Errorf("%s has %+v, want %+v", user, got, want)
			}
		}
	}
	wantStanding("bob", chat.Standing{Visible: true})
	_, err := h.Join(h.ctx, person("bob"), room)
	h.must(err)
	wantStanding("bob", chat.Standing{Ever: true, In: true, Role: chat.Plain})
	wantStanding("ann", chat.Standing{Ever: true, In: true, Role: chat.Owner})
	before := h.store.standings.Load()
	for range 100 {
		h.standing(room, "ann")
	}
	if reads := h.store.standings.Load() - before; reads != 0 {
		t.Errorf("%d of 100 looks at the same went to the store", reads)
	}
	h.must(h.Leave(h.ctx, person("ann"), room))
	wantStanding("ann", chat.Standing{Ever: true, Left: true})
	wantStanding("bob", chat.Standing{Ever: true, In: true, Role: chat.Owner})
	h.must(h.Leave(h.ctx, person("bob"), room))
	wantStanding("bob", chat.Standing{Ever: true, Left: true})
	_, err = h.Join(h.ctx, person("ann"), room)
	h.must(err)
	wantStanding("ann", chat.Standing{Ever: true, In: true, Role: chat.Owner, JoinedSeq: 1}) // after the entry on the new owner
}

// TestRoomsCachesStandings calls Rooms, which must cache the user's standings. They must be dropped when they change.
func TestRoomsCachesStandings(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann", "bob")
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 3600))
	h.must(h.Leave(h.ctx, person("bob"), room))
	_, err := h.Join(h.ctx, person("bob"), room)
	h.must(err)
	_, err = h.Rooms(h.ctx, "bob")
	h.must(err)
	before := h.store.standings.Load()
	st := h.standing(room, "bob")
	if reads := h.store.standings.Load() - before; reads != 0 || !st.In || st.Role != chat.Plain || st.MutedUntil.IsZero() || st.JoinedSeq != 1 {
		t.Errorf("has %+v, after %d questions", st, reads)
	}
	if want, err := h.store.Standing(h.ctx, room, "bob"); err != nil || st != want {
		t.Errorf("cached as %+v, but has %+v, %v", st, want, err)
	}
	h.must(h.Leave(h.ctx, person("bob"), room))
	if st := h.standing(room, "bob"); st.In {
		t.Errorf("has left, but has %+v", st)
	}
}

// TestStandingOfImpossibleIDs asks for standings with ids that cannot exist. The store must not be read: the read
// would fail, also for other callers that share it.
func TestStandingOfImpossibleIDs(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	before := h.store.standings.Load()
	for _, at := range [][2]string{{"a\x00b", "ann"}, {"a\xffb", "ann"}, {strings.Repeat("a", 1000), "ann"}, {"", "ann"}, {room, "a\x00"}} {
		if st := h.standing(at[0], at[1]); st != (chat.Standing{}) {
			t.Errorf("%.20q has in %.20q the standing %+v", at[1], at[0], st)
		}
	}
	if asked := h.store.standings.Load() - before; asked != 0 {
		t.Errorf("the store was asked %d times", asked)
	}
}

// TestStandingReadBeforeAChangeIsNotKept changes a standing while it is being read. The standing that was read before
// the change must not be cached after it.
func TestStandingReadBeforeAChangeIsNotKept(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann", "bob")
	var once sync.Once
	h.store.loaded = func() {
		once.Do(func() { h.must(h.Leave(h.ctx, person("bob"), room)) })
	}
	if st := h.standing(room, "bob"); !st.In {
		t.Fatalf("read %+v before the change", st)
	}
	if st := h.standing(room, "bob"); st.In {
		t.Error("a standing read before the change is cached after it")
	}
}

func TestSignInCostsNothingTwice(t *testing.T) {
	h := newTestService(t, chat.Options{})
	for range 3 {
		h.must(h.SignIn(h.ctx, person("ann")))
	}
	h.room(chat.Public, "ann")
	if n := h.store.putUsers.Load(); n != 1 {
		t.Errorf("an unchanged user was written %d times", n)
	}
	for _, u := range []chat.User{{ID: "ann", Name: "Ann II"}, {ID: "ann", Name: "Ann II", Avatar: "a"}, person("ann")} {
		before := h.store.putUsers.Load()
		h.must(h.SignIn(h.ctx, u))
		if h.store.putUsers.Load() == before {
			t.Errorf("%+v is news, but was not written", u)
		}
	}
	h.refused(h.SignIn(h.ctx, chat.User{}), chat.ErrBadRequest)
}

// TestSignInsAtOnce overlaps two sign-ins of one user. Afterwards neither may be cached, so signing in again with the
// older name must write it again.
func TestSignInsAtOnce(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	older, newer := chat.User{ID: "ann", Name: "older"}, chat.User{ID: "ann", Name: "newer"}
	h.store.written = func() {
		h.store.written = nil // the hook runs only once
		h.must(h.SignIn(h.ctx, newer))
	}
	h.must(h.SignIn(h.ctx, older))
	h.must(h.SignIn(h.ctx, older)) // written again, because nothing is cached
	members, _, err := h.Members(h.ctx, "ann", room, "", 0)
	h.must(err)
	if members[0].User != older {
		t.Errorf("members show %+v, want %+v, which came last", members[0].User, older)
	}
}

func TestEpochIsRemembered(t *testing.T) {
	h := newTestService(t, chat.Options{})
	first, err := h.Epoch(h.ctx)
	h.must(err)
	again, err := h.Epoch(h.ctx)
	h.must(err)
	if first == "" || again != first || h.store.epochs.Load() != 1 {
		t.Errorf("epochs %q and %q, read %d times", first, again, h.store.epochs.Load())
	}
}

// BenchmarkStanding measures the lookup of a member's cached standing, which every grab makes.
func BenchmarkStanding(b *testing.B) {
	store, err := sqlitestore.Open(b.Context(), b.TempDir(), slog.New(slog.DiscardHandler))
	noError(b, err)
	defer func() { _ = store.Close() }()
	s := chat.New(store, &recorder{}, chat.Options{Log: slog.New(slog.DiscardHandler)})
	m, _, err := s.CreateRoom(b.Context(), person("user-0"), chat.CreateRoom{Key: "k", Name: "n", Kind: chat.Public})
	noError(b, err)
	users := make([]string, 500)
	for i := range users {
		users[i] = fmt.Sprint("user-", i)
		if _, err := s.Join(b.Context(), person(users[i]), m.Room.ID); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if st, err := s.Standing(context.Background(), m.Room.ID, users[i%len(users)]); err != nil || !st.In {
				b.Errorf("%+v, %v", st, err)
			}
		}
	})
}
