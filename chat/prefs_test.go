package chat_test

import (
	"errors"
	"testing"
	"time"

	"hongbao/chat"
)

// TestPrefsReachOwnDevicesAlone changes what a user has decided about a room. Only the user's sockets must be told, with all of it.
func TestPrefsReachOwnDevicesAlone(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob")
	_, err := h.SetPrefs(h.ctx, chat.PrefsChange{Room: room, User: "bob", Silent: new(true)})
	h.must(err)
	h.published.take()
	want := chat.Prefs{Silent: true, Pinned: true}
	if got, err := h.SetPrefs(h.ctx, chat.PrefsChange{Room: room, User: "bob", Pinned: new(true)}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	h.wantPublished(publication{To: "bob", Event: chat.PrefsChanged{Room: room, Prefs: want}})
	_, err = h.SetPrefs(h.ctx, chat.PrefsChange{Room: room, User: "cyn", Pinned: new(true)})
	h.refused(err, chat.ErrNotFound)
	_, err = h.SetPrefs(h.ctx, chat.PrefsChange{User: "ann"})
	h.refused(err, chat.ErrBadRequest)
	h.wantPublished()
}

// TestSilenceForAWhile sets silences that end by themselves: at most a year long, and only with silent set.
func TestSilenceForAWhile(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob")
	for name, c := range map[string]struct {
		change chat.PrefsChange
		want   error
	}{
		"an hour":            {chat.PrefsChange{Silent: new(true), SilentFor: time.Hour}, nil},
		"not silent":         {chat.PrefsChange{Silent: new(false), SilentFor: time.Hour}, chat.ErrBadRequest},
		"silence left out":   {chat.PrefsChange{SilentFor: time.Hour}, chat.ErrBadRequest},
		"negative":           {chat.PrefsChange{Silent: new(true), SilentFor: -time.Second}, chat.ErrBadRequest},
		"more than one year": {chat.PrefsChange{Silent: new(true), SilentFor: 366 * 24 * time.Hour}, chat.ErrLimitExceeded},
	} {
		c.change.Room, c.change.User = room, "bob"
		got, err := h.SetPrefs(h.ctx, c.change)
		if !errors.Is(err, c.want) || (err == nil) != !got.SilentUntil.IsZero() {
			t.Errorf("%s: %+v, %v, want %v", name, got, err, c.want)
		}
	}
}
