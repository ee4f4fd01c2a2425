package chat_test

import (
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
)

func TestTyping(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := newHouse(t, chat.Options{Now: func() time.Time { return now }})
	room := h.room(chat.Public, "ann", "bob", "cyn")
	other := h.room(chat.Private, "ann", "bob")
	typed := func(room, user string) telling {
		return telling{To: room, Event: chat.Typed{Room: room, User: user}}
	}
	h.must(h.Mute(h.ctx, person("ann"), room, "cyn", 3600))
	h.told.take()
	for range 3 {
		h.Typing(h.ctx, person("bob"), room)
		h.Typing(h.ctx, person("bob"), other)
		for _, user := range []string{"cyn", "dan"} { // muted; never in
			h.Typing(h.ctx, person(user), room)
			h.Typing(h.ctx, person(user), other)
			h.Typing(h.ctx, person(user), "no-room")
			h.Typing(h.ctx, person(user), "")
		}
		now = now.Add(333 * time.Millisecond)
	}
	h.heard(typed(room, "bob"), typed(other, "bob"))
	now = now.Add(time.Millisecond)
	h.Typing(h.ctx, person("bob"), room)
	h.heard(typed(room, "bob"))
}

// TestTypingOfMany: a room hears ten a second, and those who may not write there take nobody's turn.
func TestTypingOfMany(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := newHouse(t, chat.Options{Now: func() time.Time { return now }})
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
		if told := h.told.take(); len(told) != 10 {
			t.Errorf("told %d times in a second, want 10", len(told))
		}
		h.Typing(h.ctx, person("ann"), quiet)
		h.heard(telling{To: quiet, Event: chat.Typed{Room: quiet, User: "ann"}})
		now = now.Add(time.Second)
	}
	h.Typing(h.ctx, person("ann"), quiet)
	for _, wait := range []time.Duration{500 * time.Millisecond, 0, 600 * time.Millisecond, 400 * time.Millisecond} {
		now = now.Add(wait)
		h.Typing(h.ctx, person("bob"), quiet) // so that time goes on for all rooms
		for _, u := range users {
			h.Typing(h.ctx, person(u), room)
		}
	}
	told := 0
	for _, one := range h.told.take() {
		if one.To == room {
			told++
		}
	}
	if told != 20 {
		t.Errorf("told %d times, want 10 from half a second on, and 10 a second later", told)
	}
}
