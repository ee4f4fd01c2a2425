package chat_test

import (
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
)

func TestTyping(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	room := h.room(chat.Public, "ann", "bob", "cyn")
	other := h.room(chat.Private, "ann", "bob")
	typed := func(room, user string) publication {
		return publication{To: room, Event: chat.Typed{Room: room, User: user}}
	}
	h.must(h.Mute(h.ctx, person("ann"), room, "cyn", 3600))
	h.published.take()
	for range 3 {
		h.Typing(h.ctx, person("bob"), room)
		h.Typing(h.ctx, person("bob"), other)
		for _, user := range []string{"cyn", "dan"} { // one is muted, the other was never a member
			h.Typing(h.ctx, person(user), room)
			h.Typing(h.ctx, person(user), other)
			h.Typing(h.ctx, person(user), "no-room")
			h.Typing(h.ctx, person(user), "")
		}
		now = now.Add(333 * time.Millisecond)
	}
	h.wantPublished(typed(room, "bob"), typed(other, "bob"))
	now = now.Add(time.Millisecond)
	h.Typing(h.ctx, person("bob"), room)
	h.wantPublished(typed(room, "bob"))
}

// TestTypingOfMany lets many users of a room type at the same time. The room must get ten events a second, and users
// that may not send there must not count.
func TestTypingOfMany(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	var users []string
	for i := range 15 {
		users = append(users, fmt.Sprint("user-", i))
	}
	room := h.room(chat.Public, "ann", users...)
	quiet := h.room(chat.Public, "ann", users...)
	for range 2 {
		for i := range 20 {
			h.Typing(h.ctx, person(fmt.Sprint("stranger-", i)), room)
		}
		for _, u := range users {
			h.Typing(h.ctx, person(u), room)
		}
		if published := h.published.take(); len(published) != 10 {
			t.Errorf("published %d times in a second, want 10", len(published))
		}
		h.Typing(h.ctx, person("ann"), quiet)
		h.wantPublished(publication{To: quiet, Event: chat.Typed{Room: quiet, User: "ann"}})
		now = now.Add(time.Second)
	}
	h.Typing(h.ctx, person("ann"), quiet)
	for _, wait := range []time.Duration{500 * time.Millisecond, 0, 600 * time.Millisecond, 400 * time.Millisecond} {
		now = now.Add(wait)
		h.Typing(h.ctx, person("bob"), quiet) // an event in another room also advances the clock of the limits
		for _, u := range users {
			h.Typing(h.ctx, person(u), room)
		}
	}
	published := 0
	for _, one := range h.published.take() {
		if one.To == room {
			published++
		}
	}
	if published != 20 {
		t.Errorf("published %d times, want 10 from half a second on, and 10 a second later", published)
	}
}

// TestStrangerSeesNoReadingAndTyping opens a direct room with a user that has not chosen it. What the user reads and types must reach only the
// user, until the user has written.
func TestStrangerSeesNoReadingAndTyping(t *testing.T) {
	h := newTestService(t, chat.Options{})
	stranger, bob := person("stranger"), person("bob")
	h.must(h.SignIn(h.ctx, bob))
	m, err := h.Direct(h.ctx, stranger, "bob")
	h.must(err)
	room := m.Room.ID
	send := func(from chat.User, key string) {
		t.Helper()
		_, err := h.Send(h.ctx, from, chat.Message{Room: room, Key: key, Text: "hi"})
		h.must(err)
		h.published.take()
	}
	read := func(seq int64) {
		t.Helper()
		_, err := h.Read(h.ctx, "bob", room, seq)
		h.must(err)
	}
	send(stranger, "1")
	read(1)
	h.Typing(h.ctx, bob, room)
	h.wantPublished(publication{To: "bob", Event: chat.ReadMoved{Room: room, User: "bob", Seq: 1}})

	send(bob, "2") // now bob has chosen the room
	send(stranger, "3")
	read(3)
	h.Typing(h.ctx, stranger, room)
	h.wantPublished(
		publication{To: room, Event: chat.ReadMoved{Room: room, User: "bob", Seq: 3}},
		publication{To: room, Event: chat.Typed{Room: room, User: "stranger"}})
}
