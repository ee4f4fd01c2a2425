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

// testPresence is a Presence that counts the users that it was asked about. A test can make it block.
type testPresence struct {
	chat.Presence
	asked  atomic.Int32
	asking func() error
}

func (l *testPresence) Online(ctx context.Context, users []string) ([]bool, error) {
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

func newTestPresence(t *testing.T, users ...string) *testPresence {
	l := &testPresence{Presence: memstore.NewDirectory().Presence()}
	for _, u := range users {
		if _, _, err := l.Enter(t.Context(), u, "socket", 10); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestOnlineInASmallRoom(t *testing.T) {
	h := newTestService(t, chat.Options{Presence: newTestPresence(t, "cyn", "bob", "dan")})
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

	alone := h.restarted(chat.Options{}) // without a Presence
	count, users, err = alone.Online(h.ctx, "ann", room)
	if h.must(err); count != 0 || users == nil || len(users) > 0 {
		t.Errorf("%d online: %#v", count, users)
	}
	online, err = alone.MembersOnline(h.ctx, []string{"ann", "dan"})
	if h.must(err); !slices.Equal(online, []bool{false, false}) {
		t.Errorf("online %v", online)
	}
}

// TestOnlineInALargeRoom asks a large room for its online members several times within ten seconds. They must be
// counted once, and no user may be named.
func TestOnlineInALargeRoom(t *testing.T) {
	now := time.Now()
	l := newTestPresence(t, "ann", "bob", "guest-7")
	h := newTestService(t, chat.Options{Presence: l, Now: func() time.Time { return now }})
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
	online(3) // a count that failed must not be reused
	asked := l.asked.Load()
	_, err = l.Leave(h.ctx, "bob", "socket")
	h.must(err)
	now = now.Add(10*time.Second - 1)
	online(3)
	if l.asked.Load() != asked {
		t.Error("counted again")
	}
	now = now.Add(1)
	l.asking = func() error { now = now.Add(time.Second); return nil } // the room has one page of members
	online(2)
	l.asking = nil
	_, _, err = l.Enter(h.ctx, "bob", "socket", 10)
	h.must(err)
	now = now.Add(19*time.Second - 1)
	online(2) // what took a second is kept for twenty, counted from its begin
	now = now.Add(1)
	online(3)
	h.must(h.Leave(h.ctx, person("guest-9"), room))
	count, users, err := h.Online(h.ctx, "ann", room) // the room is small now
	if h.must(err); count != 3 || !slices.Equal(users, []string{"ann", "bob", "guest-7"}) {
		t.Errorf("%d online: %q", count, users)
	}
}

// TestOnlineIsCountedOnce asks for the count several times while it is being made. All callers must share it, even if
// the first caller's context ends.
func TestOnlineIsCountedOnce(t *testing.T) {
	l := newTestPresence(t, "ann")
	h := newTestService(t, chat.Options{Presence: l})
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
		synctest.Wait() // the first caller makes the count
		for range 5 {
			all.Go(func() { ask(t.Context()) })
		}
		cancel()
		synctest.Wait()
		close(hold)
		all.Wait()
		if n, asked := right.Load(), l.asked.Load(); n < 5 || asked != chat.SmallRoom+1 {
			t.Errorf("%d of 5 got the count, %d users asked about", n, asked)
		}
	})
}

// TestAnnouncePresence announces users that share rooms. Only small rooms may get the events, and each room those of
// all its members together.
func TestAnnouncePresence(t *testing.T) {
	h := newTestService(t, chat.Options{})
	small := h.room(chat.Private, "ann", "bob", "cyn")
	h.room(chat.Public, "ann")
	h.largeRoom("ann", "bob")
	for _, online := range []bool{true, false} {
		h.must(h.AnnouncePresence(h.ctx, []string{"bob", "eve", "cyn"}, online))
		h.wantPublished(
			publication{To: small, Event: chat.PresenceChanged{Room: small, User: "bob", Online: online}},
			publication{To: small, Event: chat.PresenceChanged{Room: small, User: "cyn", Online: online}},
		)
	}
	h.must(h.Leave(h.ctx, person("bob"), small))
	h.published.take()
	h.must(h.AnnouncePresence(h.ctx, []string{"bob"}, true))
	h.wantPublished()
}
