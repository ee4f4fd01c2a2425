package events_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/memstore"
	"hongbao/web/host/events"
)

// nothing is a publisher that publishes nothing.
type nothing struct{}

func (nothing) Entry(chat.Entry)               {}
func (nothing) ToRoom(string, chat.Event)      {}
func (nothing) ToUser(string, chat.Event)      {}
func (nothing) StandingChanged(string, string) {}

// absentBench is a store with a room of ann, bob and cyn, in which instances look for absent users.
type absentBench struct {
	*testHook
	presence chat.Presence
	chat     *chat.Service
	from     eventlog.Cursor
}

func newAbsentBench(t *testing.T) *absentBench {
	t.Helper()
	b := &absentBench{testHook: newTestHook(t), presence: memstore.NewDirectory().Presence()}
	b.store.UseEvents(eventlog.Kinds{eventlog.UserOffline: true})
	b.chat = chat.New(b.store, nothing{}, chat.Options{Presence: b.presence})
	for _, user := range []string{"bob", "cyn"} {
		b.try(b.chat.SignIn(t.Context(), chat.User{ID: user}))
		_, err := b.chat.Join(t.Context(), chat.User{ID: user}, "good")
		b.try(err)
	}
	var err error
	b.from, err = b.store.NewestEvent(t.Context())
	b.try(err)
	return b
}

func (b *absentBench) try(err error) {
	b.Helper()
	noError(b, err)
}

// looker returns an instance that looks for absent users, and waits until it has begun with the stream, if it is the first.
func (b *absentBench) looker(instance string) (stop func()) {
	b.Helper()
	s := events.New(events.Options{
		Store: b.store, Kinds: eventlog.Kinds{eventlog.UserOffline: true}, Instance: instance, Keep: 1000 * time.Hour, Most: 1e6,
		Log: slog.New(slog.DiscardHandler), Now: b.now, Absent: b.chat.Absent, Online: b.chat.MembersOnline,
	})
	stop = b.run(s)
	for _, name := range []string{eventlog.AbsentConsumer, "~offline.again"} {
		for until := time.Now().Add(time.Minute); ; <-time.After(time.Millisecond) {
			c, err := b.store.Consumer(b.Context(), name)
			if err == nil && c.After != "" {
				break
			}
			if time.Now().After(until) {
				b.Fatalf("consumer %s: %+v, %v", name, c, err)
			}
		}
	}
	return stop
}

func (b *absentBench) mention(users ...string) int64 {
	b.Helper()
	b.seq++
	sent, err := b.chat.Send(b.Context(), chat.User{ID: "ann"}, chat.Message{Room: "good", Key: fmt.Sprint("m-", b.seq), Text: "hello", Mentions: users})
	b.try(err)
	return sent.Seq
}

// want waits for these events since the last call, in any order.
func (b *absentBench) want(want ...string) {
	b.Helper()
	var got []string
	for until := time.Now().Add(time.Minute); ; <-time.After(5 * time.Millisecond) {
		batch, err := b.store.Events(b.Context(), eventlog.Query{After: b.from, Kinds: eventlog.Kinds{eventlog.UserOffline: true}, Limit: 100})
		b.try(err)
		for _, e := range batch.Events {
			got = append(got, fmt.Sprintf("%s %d %s", e.User, e.Entry.Seq, e.Data))
		}
		b.from = batch.Next
		if len(got) >= len(want) || time.Now().After(until) {
			break
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.Fatalf("told %q, want %q", got, want)
	}
}

// looked waits until the first look has gone past all entries.
func (b *absentBench) looked() {
	b.Helper()
	newest, err := b.store.NewestEvent(b.Context())
	b.try(err)
	for until := time.Now().Add(time.Minute); ; <-time.After(5 * time.Millisecond) {
		c, err := b.store.Consumer(b.Context(), eventlog.AbsentConsumer)
		b.try(err)
		after, err := eventlog.ParseCursor(c.After)
		b.try(err)
		if after.Read[0] >= newest.Read[0] {
			return
		}
		if time.Now().After(until) {
			b.Fatalf("the look is at %v, the stream at %v", after.Read, newest.Read)
		}
	}
}

func told(user string, seq int64, count int) string {
	return fmt.Sprintf(`%s %d {"reason":"mention","count":%d}`, user, seq, count)
}

// TestAbsentUsersAreToldOnceAMinute mentions users with and without a socket. The first absence is told at once, later ones together a minute
// later, and not to a user that is back.
func TestAbsentUsersAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newAbsentBench(t)
		b.looker("one")
		_, _, err := b.presence.Enter(t.Context(), "bob", "socket", 9)
		b.try(err)
		first := b.mention("bob", "cyn")
		b.want(told("cyn", first, 1))
		b.mention("cyn")
		last := b.mention("bob", "cyn")
		b.looked()
		b.want()
		b.later(time.Minute + time.Second)
		b.want(told("cyn", last, 2))
		b.mention("cyn")
		b.looked()
		_, _, err = b.presence.Enter(t.Context(), "cyn", "socket", 9)
		b.try(err)
		_, err = b.chat.Read(t.Context(), "cyn", "good", last+1)
		b.try(err)
		b.later(time.Minute + time.Second)
		time.Sleep(500 * time.Millisecond)
		b.want()
	})
}

// TestAbsentUsersOfADeadInstanceAreTold lets a user's socket vanish after the first look, as presence does with those of a dead instance.
func TestAbsentUsersOfADeadInstanceAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newAbsentBench(t)
		b.looker("one")
		for _, user := range []string{"bob", "cyn"} {
			_, _, err := b.presence.Enter(t.Context(), user, "socket", 9)
			b.try(err)
		}
		seq := b.mention("bob", "cyn")
		b.looked()
		_, err := b.presence.Leave(t.Context(), "bob", "socket")
		b.try(err)
		b.want()
		b.later(time.Minute)
		b.want(told("bob", seq, 1))
	})
}

// TestAnotherInstanceTellsAbsentUsers stops the instance that looks. What was sent while none looked is told by the next one, once.
func TestAnotherInstanceTellsAbsentUsers(t *testing.T) {
	b := newAbsentBench(t)
	stop := b.looker("one")
	seq := b.mention("bob")
	b.want(told("bob", seq, 1))
	stop()
	seq = b.mention("cyn")
	time.Sleep(2 * time.Millisecond) // sleeps: a lease that was given back ends in the same millisecond of the clock of SQLite
	for _, name := range []string{eventlog.AbsentConsumer, "~offline.again"} {
		if _, err := b.store.Lease(t.Context(), name, "probe", -time.Second, b.now()); err != nil { // a lease that has ended
			t.Errorf("the lease of %s was not given back: %v", name, err)
		}
	}
	b.looker("two")
	b.want(told("cyn", seq, 1))
}

// TestFaultyEntryHoldsUpNobody lets the judgement of one entry fail.
func TestFaultyEntryHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newAbsentBench(t)
		bad := b.chat
		s := events.New(events.Options{
			Store: b.store, Kinds: eventlog.Kinds{eventlog.UserOffline: true}, Instance: "one", Keep: 1000 * time.Hour, Most: 1e6,
			Log: slog.New(slog.DiscardHandler), Now: b.now, Online: b.chat.MembersOnline,
			Absent: func(ctx context.Context, e chat.Entry, found func([]string)) (chat.Reason, error) {
				if e.Key == "m-1" {
					return "", chat.ErrNotFound
				}
				return bad.Absent(ctx, e, found)
			},
		})
		b.seq = 0
		b.try(b.store.PutConsumer(t.Context(), eventlog.Consumer{Name: eventlog.AbsentConsumer, After: b.from.String(), UpdatedAt: b.now()}))
		b.mention("bob")
		seq := b.mention("bob")
		b.run(s)
		b.want(told("bob", seq, 1))
	})
}
