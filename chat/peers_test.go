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
	here.must(here.Leave(here.ctx, person("ann"), room))
	here.refused(here.Leave(here.ctx, person("ann"), "no-such-room"), chat.ErrNotFound)
	if len(here.told.moved) > 0 {
		t.Errorf("nobody moved, yet told of %v", here.told.moved)
	}
	_, err := here.Join(here.ctx, person("ann"), room)
	here.must(err)
	if want := [][2]string{{room, "ann"}}; !slices.Equal(here.told.moved, want) {
		t.Errorf("told of %v, want %v", here.told.moved, want)
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
