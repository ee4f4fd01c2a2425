package chat_test

import (
	"slices"
	"testing"

	"hongbao/chat"
)

// peer is another instance over the same store, with a record of its own.
func (h *house) peer() *house {
	other := *h
	other.told = &record{}
	other.Service = chat.New(h.store, other.told, chat.Options{})
	return &other
}

// TestPeersHearWhoMoved: what one instance changes the other forgets when it is told, and not before.
func TestPeersHearWhoMoved(t *testing.T) {
	here := newHouse(t, chat.Options{})
	there := here.peer()
	room := here.room(chat.Public, "ann", "bob")
	in := func(user string) bool { return there.standing(room, user).In }
	if !in("ann") || !in("bob") {
		t.Fatal("not in from the start")
	}
	here.told.moved = nil
	here.must(here.Leave(here.ctx, person("ann"), room))
	if want := [][2]string{{room, "ann"}, {room, "bob"}}; !slices.Equal(here.told.moved, want) {
		t.Errorf("told of %v, want %v, who is the owner now", here.told.moved, want)
	}
	if !in("ann") {
		t.Error("it was not remembered: this test proves nothing")
	}
	for _, seat := range here.told.moved {
		there.Forget(seat[0], seat[1])
	}
	if in("ann") || there.standing(room, "bob").Role != chat.Owner {
		t.Error("the other instance still believes what it was told to forget")
	}
	here.told.moved = nil
	here.refused(here.Leave(here.ctx, person("ann"), "no-such-room"), chat.ErrNotFound)
	here.refused(here.Kick(here.ctx, person("ann"), room, "bob", true), chat.ErrNotMember)
	if len(here.told.moved) > 0 {
		t.Errorf("nobody moved, yet told of %v", here.told.moved)
	}
	_, err := here.Join(here.ctx, person("ann"), room)
	here.must(err)
	if want := [][2]string{{room, "ann"}}; !slices.Equal(here.told.moved, want) {
		t.Errorf("told of %v, want %v", here.told.moved, want)
	}
}

// TestPeersHearOfEveryChange: whatever changes how somebody stands, the other instance stands by it as soon as it has
// forgotten whom it is told of.
func TestPeersHearOfEveryChange(t *testing.T) {
	here := newHouse(t, chat.Options{})
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
		func() error { return here.Kick(here.ctx, ann, room, "dan", false) },
		func() error { return here.Kick(here.ctx, ann, room, "dan", true) },
		func() error { return here.Unban(here.ctx, ann, room, "dan") },
	} {
		for _, u := range users {
			there.standing(room, u)
		}
		here.moved()
		here.must(change())
		moved := here.moved()
		if len(moved) == 0 {
			t.Errorf("change %d moved nobody", i)
		}
		for _, seat := range moved {
			there.Forget(seat[0], seat[1])
		}
		fresh := here.peer()
		for _, u := range users {
			if got, want := there.standing(room, u), fresh.standing(room, u); got != want {
				t.Errorf("change %d: there %s stands as %+v, but is %+v", i, u, got, want)
			}
			if got, want := here.standing(room, u), fresh.standing(room, u); got != want {
				t.Errorf("change %d: here %s stands as %+v, but is %+v", i, u, got, want)
			}
		}
	}
}

// TestDeafRemembersNothing: while words may be missing every look goes to the store, and nothing from before counts
// when they come again.
func TestDeafRemembersNothing(t *testing.T) {
	here := newHouse(t, chat.Options{})
	there := here.peer()
	room := here.room(chat.Public, "ann", "bob")
	in := func() bool { return there.standing(room, "ann").In }
	in()
	here.must(here.Leave(here.ctx, person("ann"), room))
	there.Deaf(true)
	if in() {
		t.Error("deaf, and yet it believes what it remembered")
	}
	_, err := here.Join(here.ctx, person("ann"), room)
	here.must(err)
	if !in() {
		t.Error("deaf, and yet it remembers")
	}
	here.must(here.Leave(here.ctx, person("ann"), room))
	there.Deaf(false)
	if in() {
		t.Error("it hears again, and believes what it saw when it did not")
	}
	before := here.store.standings.Load()
	in()
	if here.store.standings.Load() != before {
		t.Error("it hears again, and remembers nothing")
	}
}
