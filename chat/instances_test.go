package chat_test

import (
	"testing"
	"time"

	"hongbao/chat"
)

// peer returns a second instance over the same store, with a recorder of its own.
func (h *testService) peer() *testService {
	other := *h
	other.published = &recorder{}
	other.Service = chat.New(h.store, other.published, chat.Options{})
	return &other
}

// TestEveryChangeInformsOtherInstances makes each change that alters a standing. The other instance must have the
// right standings as soon as it has dropped those that the notices name.
func TestEveryChangeInformsOtherInstances(t *testing.T) {
	here := newTestService(t, chat.Options{})
	there := here.peer()
	room := here.room(chat.Private, "ann", "bob", "cyn")
	here.must(here.SignIn(here.ctx, person("dan")))
	ann := person("ann")
	users := []string{"ann", "bob", "cyn", "dan"}
	for i, change := range []func() error{
		func() error { return here.Invite(here.ctx, ann, room, []string{"dan"}) },
		func() error { return here.Mute(here.ctx, ann, room, "bob", 3600) },
		func() error { return here.Mute(here.ctx, ann, room, "bob", 0) },
		func() error { return here.SetRole(here.ctx, ann, room, "cyn", chat.Admin) },
		func() error { return here.Kick(here.ctx, ann, room, "dan") },
		func() error { return here.Ban(here.ctx, ann, room, "dan", time.Time{}, "") },
		func() error { return here.Unban(here.ctx, ann, room, "dan") },
		func() error { return here.Leave(here.ctx, person("cyn"), room) },
		func() error { _, err := here.Join(here.ctx, person("cyn"), room); return err },
		func() error { return here.SetRole(here.ctx, ann, room, "bob", chat.Owner) },
		func() error { return here.Leave(here.ctx, person("bob"), room) }, // ann becomes the owner again
	} {
		for _, u := range users {
			there.standing(room, u)
		}
		here.takeChanged()
		here.must(change())
		changed := here.takeChanged()
		if len(changed) == 0 {
			t.Errorf("change %d reports no user", i)
		}
		for _, m := range changed {
			there.Forget(m[0], m[1])
		}
		fresh := here.peer()
		for _, u := range users {
			if got, want := there.standing(room, u), fresh.standing(room, u); got != want {
				t.Errorf("change %d: there %s has %+v, want %+v", i, u, got, want)
			}
			if got, want := here.standing(room, u), fresh.standing(room, u); got != want {
				t.Errorf("change %d: here %s has %+v, want %+v", i, u, got, want)
			}
		}
	}
}

// TestDisconnectedCachesNothing sets SetDisconnected. Then every lookup must read the store. After the connection is
// back, nothing that was cached before may be used.
func TestDisconnectedCachesNothing(t *testing.T) {
	here := newTestService(t, chat.Options{})
	there := here.peer()
	room := here.room(chat.Public, "ann", "bob")
	in := func() bool { return there.standing(room, "ann").In }
	in()
	here.must(here.Leave(here.ctx, person("ann"), room))
	there.SetDisconnected(true)
	if in() {
		t.Error("disconnected, but uses a standing cached before")
	}
	_, err := here.Join(here.ctx, person("ann"), room)
	here.must(err)
	if !in() {
		t.Error("disconnected, but caches")
	}
	here.must(here.Leave(here.ctx, person("ann"), room))
	there.SetDisconnected(false)
	if in() {
		t.Error("connected again, but uses a standing from before")
	}
	before := here.store.standings.Load()
	in()
	if here.store.standings.Load() != before {
		t.Error("connected again, but caches nothing")
	}
}
