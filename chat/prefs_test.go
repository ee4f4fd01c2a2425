package chat_test

import (
	"testing"

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
