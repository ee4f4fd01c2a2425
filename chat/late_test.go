package chat_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

// lateStore reports an unknown outcome of each ban and commits the ban only when the test says so, as Postgres does that waits for a
// synchronous standby.
type lateStore struct {
	chat.Store
	commit func()
}

func (s *lateStore) Change(ctx context.Context, c chat.Change) (chat.Changed, error) {
	if c.Kind != chat.Ban {
		return s.Store.Change(ctx, c)
	}
	s.commit = func() { _, _ = s.Store.Change(context.WithoutCancel(ctx), c) }
	return chat.Changed{}, chat.ErrUnavailable
}

// TestLateCommitOfABanReachesOtherInstances commits a ban after its notice has arrived on another instance, which has then cached the old
// standing. A repeated notice must drop that standing, here too, and the repeats must end.
func TestLateCommitOfABanReachesOtherInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestService(t, chat.Options{})
		room := h.room(chat.Private, "ann", "bob")
		defer h.Stop()
		late := &lateStore{Store: h.store}
		pub := &recorder{}
		here, there := chat.New(late, pub, chat.Options{}), chat.New(h.store, &recorder{}, chat.Options{})
		defer here.Stop()
		deliver := func() (notices int) {
			pub.mu.Lock()
			defer pub.mu.Unlock()
			for _, m := range pub.changed {
				there.Forget(m[0], m[1])
			}
			notices, pub.changed = len(pub.changed), nil
			return notices
		}
		if err := here.Ban(h.ctx, person("ann"), room, "bob", time.Time{}, ""); err == nil {
			t.Fatal("the outcome is known")
		}
		deliver()
		services := map[string]*chat.Service{"the instance that lost the outcome": here, "another instance": there}
		for name, s := range services {
			if st, err := s.Standing(h.ctx, room, "bob"); err != nil || !st.In {
				t.Fatalf("%s before the commit: %+v, %v", name, st, err)
			}
		}
		late.commit()
		time.Sleep(6 * time.Second)
		if deliver() == 0 {
			t.Error("no notice was repeated")
		}
		for name, s := range services {
			if st, err := s.Standing(h.ctx, room, "bob"); err != nil || !st.Banned {
				t.Errorf("%s, 6 s after the commit: %+v, %v; want a ban", name, st, err)
			}
		}
		time.Sleep(time.Minute)
		deliver()
		time.Sleep(time.Hour)
		if n := deliver(); n != 0 {
			t.Errorf("%d notices are still repeated an hour later", n)
		}
	})
}

// TestCachedStandingEnds bans and unbans users whose notices never arrive. Each way to fill the cache must keep a standing for at most a minute.
func TestCachedStandingEnds(t *testing.T) {
	now := time.Now()
	h := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	for name, read := range map[string]func(room string){
		"one standing": func(room string) { h.standing(room, "bob") },
		"all rooms": func(string) {
			_, err := h.Rooms(h.ctx, "bob")
			h.must(err)
		},
	} {
		room := h.room(chat.Private, "ann", "bob")
		h.Forget(room, "bob")
		read(room)
		h.must(h.peer().Ban(h.ctx, person("ann"), room, "bob", time.Time{}, ""))
		now = now.Add(59 * time.Second)
		if !h.standing(room, "bob").In {
			t.Fatalf("%s: not cached", name)
		}
		now = now.Add(time.Second)
		if st := h.standing(room, "bob"); !st.Banned {
			t.Errorf("%s: a minute after a ban without notice: %+v", name, st)
		}
		if _, _, err := h.History(h.ctx, "bob", room, chat.Page{Limit: 1}); err == nil {
			t.Errorf("%s: a minute after a ban without notice, the user reads the room", name)
		}
	}
}

// TestRepeatedNoticesAreBounded has very many changes with unknown outcomes. The notices of most of them must not be repeated.
func TestRepeatedNoticesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestService(t, chat.Options{})
		pub := &recorder{}
		here := chat.New(&lateStore{Store: h.store}, pub, chat.Options{})
		defer here.Stop()
		for range 3000 {
			if err := here.Ban(h.ctx, person("ann"), chat.NewID(time.Now()), "bob", time.Time{}, ""); err == nil {
				t.Fatal("the outcome is known")
			}
		}
		pub.mu.Lock()
		pub.changed = nil
		pub.mu.Unlock()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		pub.mu.Lock()
		defer pub.mu.Unlock()
		if n := len(pub.changed); n == 0 || n > 1000 {
			t.Errorf("%d notices were repeated in a round, want 1 to 1000", n)
		}
	})
}

// doubtfulStore fails each write of entries with err, though it may be committed.
type doubtfulStore struct {
	chat.Store
	err error
}

func (s *doubtfulStore) Append(context.Context, chat.Draft) (chat.Entry, bool, error) {
	return chat.Entry{}, false, s.err
}

func (s *doubtfulStore) Amend(context.Context, chat.Amendment) (chat.Amended, error) {
	return chat.Amended{}, s.err
}

func (s *doubtfulStore) Leave(context.Context, chat.Leaving) (chat.Left, error) {
	return chat.Left{}, s.err
}

func (s *doubtfulStore) Change(context.Context, chat.Change) (chat.Changed, error) {
	return chat.Changed{}, s.err
}

// TestUnknownOutcomeHasTheRoomCompared loses the outcome of each kind of write into a room. Nobody publishes what it may have written, so all
// instances must be told for half a minute to compare the room with the store. After a refusal, nothing was written.
func TestUnknownOutcomeHasTheRoomCompared(t *testing.T) {
	for name, write := range map[string]func(h *testService, room string) error{
		"send": func(h *testService, room string) error {
			_, err := h.Send(h.ctx, person("ann"), chat.Message{Room: room, Key: "k", Text: "hello"})
			return err
		},
		"react": func(h *testService, room string) error { return h.React(h.ctx, person("ann"), room, 1, "👍", true) },
		"leave": func(h *testService, room string) error { return h.Leave(h.ctx, person("ann"), room) },
		"kick":  func(h *testService, room string) error { return h.Kick(h.ctx, person("ann"), room, "bob") },
	} {
		for outcome, want := range map[error]int{chat.ErrUnavailable: 6, chat.ErrForbidden: 0} {
			t.Run(name+" "+outcome.Error(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newTestService(t, chat.Options{})
					room := h.room(chat.Public, "ann", "bob")
					h.Stop()
					h.published.take()
					h.Service = chat.New(&doubtfulStore{h.store, outcome}, h.published, chat.Options{})
					defer h.Stop()
					if err := write(h, room); !errors.Is(err, outcome) {
						t.Fatalf("got %v, want %v", err, outcome)
					}
					time.Sleep(time.Hour)
					told := 0
					for _, p := range h.published.take() {
						if p == (publication{To: room, Event: chat.OutcomeUnknown{}}) {
							told++
						}
					}
					if told != want {
						t.Errorf("the instances were told %d times, want %d", told, want)
					}
				})
			})
		}
	}
}
