package web

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

	"hongbao/store/memstore"
)

// journal records what rooms are told.
type journal struct {
	mu  sync.Mutex
	all []string
}

func (l *journal) tell(_ context.Context, user string, online bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprint(user, " ", online))
	return errors.New("which nobody minds")
}

func (l *journal) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

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
		c := newComings(here, l.tell, slog.New(slog.DiscardHandler))
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
		c := newComings(memstore.NewDirectory().Presence(), l.tell, slog.New(slog.DiscardHandler))
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
