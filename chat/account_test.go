package chat_test

import (
	"slices"
	"testing"
	"time"

	"hongbao/chat"
)

func TestRevokedTokensAreRefused(t *testing.T) {
	now := time.Unix(1_700_000_000, 900_000_000)
	here := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	there := here.peer()
	ann := person("ann")
	before, same, after := now.Add(-time.Hour), now.Truncate(time.Second), now.Add(100*time.Millisecond)
	for _, issued := range []time.Time{{}, before, same, after} {
		here.must(here.admit(ann, issued))
		there.must(there.admit(ann, issued))
	}
	here.must(here.Revoke(here.ctx, "ann"))
	if got, want := here.takeChanged(), [][2]string{{"", "ann"}}; !slices.Equal(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
	here.wantPublished()
	there.must(there.admit(ann, before)) // succeeds: the other instance has got no notice of the revocation yet
	there.Forget("", "ann")
	for name, h := range map[string]*testService{"here": here, "there": there, "fresh": here.peer()} {
		for _, issued := range []time.Time{{}, before, same} {
			for range 2 {
				h.refused(h.admit(ann, issued), chat.ErrRevoked)
			}
		}
		if err := h.admit(ann, after); err != nil {
			t.Errorf("%s: a token of the next second: %v", name, err)
		}
	}
	h := here
	h.must(h.admit(person("bob"), time.Time{}))
	h.must(h.Revoke(h.ctx, "unseen"))
	h.refused(h.admit(person("unseen"), before), chat.ErrRevoked)
	h.wrong(h.Revoke(h.ctx, "a b"), chat.ErrBadRequest, "user")
	h.wrong(h.Revoke(h.ctx, ""), chat.ErrBadRequest, "user")
	h.wrong(h.admit(chat.User{}, before), chat.ErrBadRequest, "user")
}

// TestRefusedTokensCostNothing signs in with a revoked token. It must write nothing, and the name and avatar in the
// token must be ignored.
func TestRefusedTokensCostNothing(t *testing.T) {
	h := newTestService(t, chat.Options{})
	ann := person("ann")
	room := h.room(chat.Public, "ann")
	h.must(h.Revoke(h.ctx, "ann"))
	h.refused(h.admit(ann, time.Unix(1, 0)), chat.ErrRevoked)
	before := h.store.putUsers.Load()
	for range 10 {
		h.refused(h.admit(chat.User{ID: "ann", Name: "as of old"}, time.Unix(1, 0)), chat.ErrRevoked)
	}
	if n := h.store.putUsers.Load() - before; n > 0 {
		t.Errorf("written %d times", n)
	}
	members, _, err := h.Members(h.ctx, "ann", room, "", 0)
	h.must(err)
	if members[0].User != ann {
		t.Errorf("ann is %+v now", members[0].User)
	}
}

// TestRefusedTokensChangeNothing signs in with a revoked token on several instances: the stored name must stay. The
// next valid token must be stored again.
func TestRefusedTokensChangeNothing(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	clock := chat.Options{Now: func() time.Time { return now }}
	h := newTestService(t, clock)
	room := h.room(chat.Public, "ann")
	h.must(h.Revoke(h.ctx, "ann"))
	old := chat.User{ID: "ann", Name: "as of old"}
	must := func(want chat.User) {
		t.Helper()
		members, _, err := h.Members(h.ctx, "ann", room, "", 0)
		h.must(err)
		if members[0].User != want {
			t.Errorf("ann is %+v now, want %+v", members[0].User, want)
		}
	}
	for _, issued := range []time.Time{{}, time.Unix(-5, 0), now.Add(-time.Hour), now} {
		h.refused(h.restarted(clock).admit(old, issued), chat.ErrRevoked)
		must(person("ann"))
	}
	fresh := h.restarted(clock)
	h.refused(fresh.admit(old, now), chat.ErrRevoked)
	h.must(fresh.admit(old, now.Add(time.Second))) // succeeds, because a refused user is not cached
	must(old)
}

// TestAdmittedWhileRevoked revokes the user's tokens while an account is being read. The account that was read before
// must not be cached after.
func TestAdmittedWhileRevoked(t *testing.T) {
	h := newTestService(t, chat.Options{})
	h.store.written = func() {
		h.store.written = nil
		h.must(h.Revoke(h.ctx, "ann"))
	}
	h.must(h.admit(person("ann"), time.Unix(1, 0))) // succeeds: the account was read before the revocation
	h.refused(h.admit(person("ann"), time.Unix(1, 0)), chat.ErrRevoked)
}

// TestSuspendedUsersAreRefused suspends a user. Tokens of any time must be refused on each instance that has heard of it, and the store must
// not be asked for each of them. An instance that has not heard of the reinstatement must ask again after a while.
func TestSuspendedUsersAreRefused(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	here := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	there := here.restarted(chat.Options{Now: func() time.Time { return now }})
	ann, later := person("ann"), now.Add(time.Hour)
	here.must(here.admit(ann, later))
	there.must(there.admit(ann, later))
	here.takeChanged()
	suspended, err := here.Suspend(here.ctx, "ann")
	if err != nil || !suspended.SuspendedAt.Equal(now) {
		t.Fatalf("suspended %+v, %v", suspended, err)
	}
	if got, want := here.takeChanged(), [][2]string{{"", "ann"}}; !slices.Equal(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
	there.must(there.admit(ann, later)) // it has no notice yet
	there.Forget("", "ann")
	for _, h := range []*testService{here, there} {
		h.refused(h.admit(ann, later), chat.ErrSuspended)
		before := h.store.putUsers.Load()
		for range 10 {
			h.refused(h.admit(ann, time.Time{}), chat.ErrSuspended)
		}
		if n := h.store.putUsers.Load() - before; n > 0 {
			t.Errorf("the store was asked %d times", n)
		}
	}
	if _, err := here.Reinstate(here.ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	here.must(here.admit(ann, time.Time{}))
	there.refused(there.admit(ann, later), chat.ErrSuspended) // the notice is lost
	now = now.Add(5 * time.Second)
	there.must(there.admit(ann, later))

	_, err = here.Suspend(here.ctx, "ann")
	here.must(err)
	there.must(there.admit(ann, later)) // the notice is lost
	now = now.Add(10 * time.Second)
	there.refused(there.admit(ann, later), chat.ErrSuspended)

	_, err = here.Suspend(here.ctx, "a b")
	here.wrong(err, chat.ErrBadRequest, "user")
	_, err = here.Reinstate(here.ctx, "unseen")
	here.refused(err, chat.ErrNotFound)
}
