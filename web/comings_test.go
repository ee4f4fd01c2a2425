package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/store/memstore"
)

// journal records what rooms are told.
type journal struct {
	mu  sync.Mutex
	all []string
}

func (l *journal) tell(_ context.Context, users []string, online bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, user := range users {
		l.all = append(l.all, fmt.Sprint(user, " ", online))
	}
	return errors.New("which nobody minds")
}

func (l *journal) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

func nobodyWaits() bool { return false }

func mustTell(t *testing.T, l *journal, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := l.take(); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// Who comes is told at once, who goes when he has stayed away; who only changes sockets, here or to another instance,
// makes no noise.
func TestComings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		directory := memstore.NewDirectory()
		here, there := directory.Presence(), directory.Presence()
		var l journal
		c := newComings(here, l.tell, nobodyWaits, slog.New(slog.DiscardHandler))
		a := newAttendance(here, 10, func(string, string) {}, c, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { a.run(ctx) })
		running.Go(func() { c.run(ctx) })
		defer running.Wait()
		defer cancel()
		comes := func(user, socket string) { a.note(movement{user: user, socket: socket}) }
		goes := func(user, socket string) { a.note(movement{user: user, socket: socket, gone: true}) }

		comes("ann", "1")
		mustTell(t, &l, "ann true")
		comes("ann", "2")
		goes("ann", "1")
		time.Sleep(time.Minute)
		mustTell(t, &l)

		goes("ann", "2")
		time.Sleep(goneFor - time.Millisecond)
		mustTell(t, &l)
		time.Sleep(2 * time.Millisecond)
		mustTell(t, &l, "ann false")

		comes("ann", "3")
		comes("bob", "4")
		mustTell(t, &l, "ann true", "bob true")
		goes("ann", "3")
		time.Sleep(goneFor / 2)
		comes("ann", "5")
		goes("bob", "4")
		time.Sleep(goneFor / 4)
		goes("ann", "5")
		time.Sleep(goneFor * 9 / 10)
		mustTell(t, &l, "bob false")
		time.Sleep(goneFor)
		mustTell(t, &l, "ann false")

		comes("eve", "6")
		mustTell(t, &l, "eve true")
		goes("eve", "6")
		synctest.Wait()
		if _, _, err := there.Enter(ctx, "eve", "7", 10); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		mustTell(t, &l)
	})
}

// However many come and go, a bounded number waits.
func TestComingsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l journal
		c := newComings(memstore.NewDirectory().Presence(), l.tell, nobodyWaits, slog.New(slog.DiscardHandler))
		for i := range 3 * maxComings {
			c.noteCame(fmt.Sprint("a", i))
			c.noteWent(fmt.Sprint("b", i))
		}
		if len(c.came)+len(c.gone) != maxComings || len(c.since) != len(c.gone) {
			t.Errorf("%d and %d wait", len(c.came), len(c.gone))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c.run(ctx)
		if n := len(l.take()); n != maxComings {
			t.Errorf("%d were told of, want %d", n, maxComings)
		}
		if len(c.since) != 0 || c.came != nil || c.gone != nil {
			t.Error("something is kept")
		}
	})
}

// While a crowd comes back nobody is told of it; then all are told of together.
func TestComingsWaitForTheCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls [][]string
		tell := func(_ context.Context, users []string, online bool) error {
			if !online {
				calls = append(calls, users)
				return nil
			}
			calls = append(calls, append([]string{"came"}, users...))
			return nil
		}
		lobby := newLobby(1, time.Minute)
		leave, err := lobby.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := newComings(memstore.NewDirectory().Presence(), tell, lobby.crowded, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() { c.run(ctx) })
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if leave, err := lobby.enter(ctx); err == nil {
				leave()
			}
		})
		synctest.Wait()
		c.noteCame("ann")
		c.noteCame("bob")
		c.noteWent("eve")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(calls) != 0 {
			t.Errorf("told %q in the crowd", calls)
		}
		leave()
		waiting.Wait()
		time.Sleep(crowdPause)
		synctest.Wait()
		if want := [][]string{{"came", "ann", "bob"}, {"eve"}}; !reflect.DeepEqual(calls, want) {
			t.Errorf("told %q, want %q", calls, want)
		}
	})
}
