package chat_test

import (
	"context"
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
