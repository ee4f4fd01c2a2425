package chat_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/store/memstore"
)

// lobby is a Presence that counts how many users it was asked about, and can be held up.
type lobby struct {
	chat.Presence
	asked  atomic.Int32
	asking func() error
}

func (l *lobby) Online(ctx context.Context, users []string) ([]bool, error) {
	l.asked.Add(int32(len(users)))
	if l.asking != nil {
		if err := l.asking(); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, chat.ErrUnavailable
	}
	return l.Presence.Online(ctx, users)
}

func newLobby(t *testing.T, users ...string) *lobby {
	l := &lobby{Presence: memstore.NewDirectory().Presence()}
	for _, u := range users {
		if _, _, err := l.Enter(t.Context(), u, "socket", 10); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestOnlineInASmallRoom(t *testing.T) {
	h := newHouse(t, chat.Options{Presence: newLobby(t, "cyn", "bob", "dan")})
	room := h.room(chat.Private, "ann", "bob", "cyn")
	count, users, err := h.Online(h.ctx, "ann", room)
	if h.must(err); count != 2 || !slices.Equal(users, []string{"bob", "cyn"}) {
		t.Errorf("%d online: %q", count, users)
	}
	_, _, err = h.Online(h.ctx, "dan", room)
	h.refused(err, chat.ErrNotFound)
	online, err := h.MembersOnline(h.ctx, []string{"ann", "dan"})
	if h.must(err); !slices.Equal(online, []bool{false, true}) {
		t.Errorf("online %v", online)
	}

	alone := h.again(chat.Options{}) // nobody notes who is online
	count, users, err = alone.Online(h.ctx, "ann", room)
	if h.must(err); count != 0 || users == nil || len(users) > 0 {
		t.Errorf("%d online: %#v", count, users)
	}
	online, err = alone.MembersOnline(h.ctx, []string{"ann", "dan"})
	if h.must(err); !slices.Equal(online, []bool{false, false}) {
		t.Errorf("online %v", online)
	}
}

// TestOnlineInALargeRoom: it is counted once for all who ask within ten seconds, and nobody is named.
func TestOnlineInALargeRoom(t *testing.T) {
	now := time.Now()
	l := newLobby(t, "ann", "bob", "guest-7")
	h := newHouse(t, chat.Options{Presence: l, Now: func() time.Time { return now }})
	room := h.largeRoom("ann", "bob")
	online := func(want int) {
		t.Helper()
		count, users, err := h.Online(h.ctx, "ann", room)
		if h.must(err); count != want || users != nil {
			t.Errorf("%d online, want %d: %q", count, want, users)
		}
	}
	l.asking = func() error { return chat.ErrUnavailable }
	_, _, err := h.Online(h.ctx, "ann", room)
	h.refused(err, chat.ErrUnavailable)
	l.asking = nil
	online(3) // a failure is not kept
	asked := l.asked.Load()
	_, err = l.Leave(h.ctx, "bob", "socket")
	h.must(err)
	now = now.Add(10*time.Second - 1)
	online(3)
	if l.asked.Load() != asked {
		t.Error("counted again")
	}
	now = now.Add(1)
	online(2)
	h.must(h.Leave(h.ctx, person("guest-9"), room))
	count, users, err := h.Online(h.ctx, "ann", room) // which is small now
	if h.must(err); count != 2 || !slices.Equal(users, []string{"ann", "guest-7"}) {
		t.Errorf("%d online: %q", count, users)
	}
}

// TestOnlineIsCountedOnce: those who ask while it is being counted get the same count; who does not wait any longer
// spoils it for nobody.
func TestOnlineIsCountedOnce(t *testing.T) {
	l := newLobby(t, "ann")
	h := newHouse(t, chat.Options{Presence: l})
	room := h.largeRoom("ann")
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		l.asking = func() error { <-hold; return nil }
		impatient, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var right atomic.Int32
		ask := func(ctx context.Context) {
			if count, _, err := h.Online(ctx, "ann", room); err == nil && count == 1 {
				right.Add(1)
			}
		}
		all.Go(func() { ask(impatient) })
		synctest.Wait() // he is the one who counts
		for range 5 {
			all.Go(func() { ask(t.Context()) })
		}
		cancel()
		synctest.Wait()
		close(hold)
		all.Wait()
		if n, asked := right.Load(), l.asked.Load(); n < 5 || asked != chat.SmallRoom+1 {
			t.Errorf("%d of 5 were told, %d users asked about", n, asked)
		}
	})
}

// TestCameOrWent: only small rooms are told, each of all its members at once.
func TestCameOrWent(t *testing.T) {
	h := newHouse(t, chat.Options{})
	small := h.room(chat.Private, "ann", "bob", "cyn")
	h.room(chat.Public, "ann")
	h.largeRoom("ann", "bob")
	for _, online := range []bool{true, false} {
		h.must(h.CameOrWent(h.ctx, []string{"bob", "eve", "cyn"}, online))
		h.heard(
			telling{To: small, Event: chat.PresenceMoved{Room: small, User: "bob", Online: online}},
			telling{To: small, Event: chat.PresenceMoved{Room: small, User: "cyn", Online: online}},
		)
	}
	h.must(h.Leave(h.ctx, person("bob"), small))
	h.told.take()
	h.must(h.CameOrWent(h.ctx, []string{"bob"}, true))
	h.heard()
}
