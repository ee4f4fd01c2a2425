package chat_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
)

// absent returns why the last entry of the room is news, and for which users without a socket.
func (h *testService) absent(room string) (reason chat.Reason, users []string) {
	h.Helper()
	entries, _, err := h.store.History(h.ctx, room, chat.Page{Limit: 1})
	h.must(err)
	reason, err = h.Absent(h.ctx, entries[0], func(found []string) { users = append(users, found...) })
	h.must(err)
	return reason, users
}

func TestAbsent(t *testing.T) {
	h := newTestService(t, chat.Options{Presence: newTestPresence(t, "bob")})
	room := h.room(chat.Private, "ann", "bob", "cyn", "dan", "eve")
	want := func(what string, room string, reason chat.Reason, users ...string) {
		t.Helper()
		gotReason, got := h.absent(room)
		if gotReason != reason || !slices.Equal(got, users) {
			t.Errorf("%s: %q for %q, want %q for %q", what, gotReason, got, reason, users)
		}
	}
	keys := 0
	send := func(room string, mentions ...string) chat.Receipt {
		t.Helper()
		keys++
		sent, err := h.Send(h.ctx, chat.User{ID: "ann"}, chat.Message{Room: room, Key: string(rune('a' + keys)), Text: "hello", Mentions: mentions})
		h.must(err)
		return sent
	}
	packet := func(to ...string) {
		t.Helper()
		keys++
		body, err := json.Marshal(map[string]any{"id": "p", "to": to})
		h.must(err)
		key := string(rune('a' + keys))
		_, _, err = h.store.Append(h.ctx, chat.Draft{ID: key, Room: room, From: chat.User{ID: "ann"}, Kind: chat.KindPacket, Key: key, Hash: []byte("h"), Body: body, At: time.Now()})
		h.must(err)
	}
	send(room)
	want("a text for all", room, "")
	sent := send(room, "bob", "cyn", "dan", "ann")
	want("a mention", room, chat.ByMention, "cyn", "dan")
	_, err := h.Read(h.ctx, "cyn", room, sent.Seq)
	h.must(err)
	want("a mention that cyn has read", room, chat.ByMention, "dan")
	packet()
	want("a packet", room, chat.ByPacket, "cyn", "dan", "eve")
	packet("dan", "bob")
	want("a packet for two users", room, chat.ByPacket, "dan")
	yes := true
	_, err = h.SetPrefs(h.ctx, chat.PrefsChange{Room: room, User: "dan", Silent: &yes})
	h.must(err)
	packet()
	want("a packet in a room that is silent for dan", room, chat.ByPacket, "cyn", "eve")
	h.must(h.Block(h.ctx, chat.User{ID: "eve"}, "ann"))
	want("a packet of a user whom eve has blocked", room, chat.ByPacket, "cyn")

	direct, err := h.Direct(h.ctx, chat.User{ID: "ann"}, "cyn")
	h.must(err)
	send(direct.Room.ID)
	want("a direct message", direct.Room.ID, chat.ByDirect, "cyn")
}
