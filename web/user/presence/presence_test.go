package presence

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/store/memstore"
)

// announcements records the calls of Options.Announce.
type announcements struct {
	mu  sync.Mutex
	all []string
}

// add implements Options.Announce. It returns an error, which must have no effect.
func (l *announcements) add(_ context.Context, users []string, online bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, user := range users {
		l.all = append(l.all, fmt.Sprint(user, " ", online))
	}
	return errors.New("announcement failed")
}

func (l *announcements) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// want waits until all goroutines block and compares the announcements made since the last call.
func (l *announcements) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := l.take(); !slices.Equal(got, want) {
		t.Errorf("announced %q, want %q", got, want)
	}
}

// testOptions returns options with a presence directory of their own.
func testOptions(announce func(context.Context, []string, bool) error) Options {
	return Options{
		Directory: memstore.NewDirectory().Presence(), MaxSockets: 10, CloseSocket: func(string, string) {},
		Announce: announce, Paused: func() bool { return false }, Log: slog.New(slog.DiscardHandler),
	}
}

// TestAnnouncements opens and closes sockets. Coming online must be announced at once, going offline after a delay. A
// reconnect, also to another instance, must not be announced.
func TestAnnouncements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		directory := memstore.NewDirectory()
		here, there := directory.Presence(), directory.Presence()
		var l announcements
		o := testOptions(l.add)
		o.Directory = here
		tracker := New(o)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { tracker.Run(ctx) })
		defer running.Wait()
		defer cancel()

		tracker.SocketOpened("ann", "1")
		l.want(t, "ann true")
		tracker.SocketOpened("ann", "2")
		tracker.SocketClosed("ann", "1")
		time.Sleep(time.Minute)
		l.want(t)

		tracker.SocketClosed("ann", "2")
		time.Sleep(offlineDelay - time.Millisecond)
		l.want(t)
		time.Sleep(2 * time.Millisecond)
		l.want(t, "ann false")

		tracker.SocketOpened("ann", "3")
		tracker.SocketOpened("bob", "4")
		l.want(t, "ann true", "bob true")
		tracker.SocketClosed("ann", "3")
		time.Sleep(offlineDelay / 2)
		tracker.SocketOpened("ann", "5")
		tracker.SocketClosed("bob", "4")
		time.Sleep(offlineDelay / 4)
		tracker.SocketClosed("ann", "5")
		time.Sleep(offlineDelay * 9 / 10)
		l.want(t, "bob false")
		time.Sleep(offlineDelay)
		l.want(t, "ann false")

		tracker.SocketOpened("eve", "6")
		l.want(t, "eve true")
		tracker.SocketClosed("eve", "6")
		synctest.Wait()
		if _, _, err := there.Enter(ctx, "eve", "7", 10); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		l.want(t)
	})
}

// TestSurplusSocketsAreClosed opens one socket too many for a user. The user's oldest socket must be closed.
func TestSurplusSocketsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l, closed announcements
		o := testOptions(l.add)
		o.MaxSockets = 2
		o.CloseSocket = func(user, socket string) { _ = closed.add(t.Context(), []string{user + " " + socket}, false) }
		tracker := New(o)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { tracker.Run(ctx) })
		defer running.Wait()
		defer cancel()
		for _, socket := range []string{"1", "2"} {
			tracker.SocketOpened("ann", socket)
			time.Sleep(time.Second) // the directory orders sockets by time of opening
		}
		tracker.SocketOpened("bob", "4")
		closed.want(t)
		tracker.SocketOpened("ann", "3")
		closed.want(t, "ann 1 false")
	})
}

// TestAnnouncementsAreBounded queues more users than the limit. Users over the limit must be dropped, and nothing may
// stay in memory after the announcements.
func TestAnnouncementsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l announcements
		a := newAnnouncer(testOptions(l.add))
		for i := range 3 * maxQueued {
			a.cameOnline(fmt.Sprint("a", i))
			a.wentOffline(fmt.Sprint("b", i))
		}
		if len(a.online)+len(a.offline) != maxQueued || len(a.since) != len(a.offline) {
			t.Errorf("%d online and %d offline users are queued, want %d together", len(a.online), len(a.offline), maxQueued)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		a.run(ctx)
		if n := len(l.take()); n != maxQueued {
			t.Errorf("%d users were announced, want %d", n, maxQueued)
		}
		if len(a.since) != 0 || a.online != nil || a.offline != nil {
			t.Error("the queues are not empty after all announcements")
		}
	})
}

// TestAnnouncementsPause queues users while Paused returns true. Nothing may be announced before it returns false; then
// all users must be announced together.
func TestAnnouncementsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls [][]string
		o := testOptions(func(_ context.Context, users []string, online bool) error {
			if online {
				users = append([]string{"online"}, users...)
			}
			calls = append(calls, users)
			return nil
		})
		var paused atomic.Bool
		paused.Store(true)
		o.Paused = paused.Load
		a := newAnnouncer(o)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() { a.run(ctx) })
		a.cameOnline("ann")
		a.cameOnline("bob")
		a.wentOffline("eve")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(calls) != 0 {
			t.Errorf("announced %q while paused, want nothing", calls)
		}
		paused.Store(false)
		time.Sleep(pausePoll)
		synctest.Wait()
		if want := [][]string{{"online", "ann", "bob"}, {"eve"}}; !reflect.DeepEqual(calls, want) {
			t.Errorf("announced %q, want %q", calls, want)
		}
	})
}
