package chat_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
)

func TestAway(t *testing.T) {
	now := time.Now()
	h := newTestService(t, chat.Options{Presence: newTestPresence(t, "dan"), Now: func() time.Time { return now }})
	room := h.room(chat.Private, "ann", "bob", "cyn", "dan", "eve")
	away := func(when string, want ...string) {
		t.Helper()
		got, err := h.Away(h.ctx, room, "ann")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", when, got, err, want)
		}
	}
	away("all have joined just now", "bob", "cyn", "eve")
	now = now.Add(13 * 24 * time.Hour)
	h.sendText(room, "eve", "hello")
	away("the most active one first", "eve", "bob", "cyn")
	now = now.Add(2 * 24 * time.Hour)
	away("the others were active 15 days ago", "eve")
	_, err := h.Away(h.ctx, room, "stranger")
	h.refused(err, chat.ErrNotFound)
	if got, err := h.Away(h.ctx, h.room(chat.Private, "ann", "bob"), "ann"); err != nil || len(got) != 0 {
		t.Errorf("in a room of two: %q, %v", got, err)
	}
}

func TestAwayInALargeRoom(t *testing.T) {
	h := newTestService(t, chat.Options{Presence: newTestPresence(t)})
	room := h.room(chat.Public, "ann")
	h.fill(room, chat.AwayRoom)
	_, err := h.Away(h.ctx, room, "ann")
	var wrong *chat.FieldError
	if !errors.As(err, &wrong) || wrong.Field != "hold_away" || !errors.Is(err, chat.ErrLimitExceeded) {
		t.Errorf("with one member too many: %v", err)
	}
	h.must(h.Leave(h.ctx, person("guest-7"), room))
	if got, err := h.Away(h.ctx, room, "ann"); err != nil || len(got) != chat.AwayRoom-1 {
		t.Errorf("with as many members as allowed: %d, %v", len(got), err)
	}
}
