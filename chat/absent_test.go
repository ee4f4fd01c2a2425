package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
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

	_, err = h.Send(h.ctx, chat.User{ID: "ann"}, chat.Message{Room: room, Key: "all", Text: "hello", MentionAll: true})
	h.must(err)
	want("a mention of all", room, chat.ByMention, "cyn")

	direct, err := h.Direct(h.ctx, chat.User{ID: "ann"}, "cyn")
	h.must(err)
	send(direct.Room.ID)
	want("a direct message", direct.Room.ID, chat.ByDirect, "cyn")
	body := json.RawMessage(`{"text":"","files":[{"id":"f"}]}`)
	_, _, err = h.store.Append(h.ctx, chat.Draft{ID: "f", Room: direct.Room.ID, From: chat.User{ID: "ann"}, Kind: chat.KindText, Key: "f", Hash: []byte("h"), Body: body, At: time.Now()})
	h.must(err)
	want("a direct message of a file", direct.Room.ID, chat.ByDirect, "cyn")
}

// TestAbsentInLargeRoom sends texts in a room with more than MostNews members. A text that mentions all must be news for those only that it names.
func TestAbsentInLargeRoom(t *testing.T) {
	for members, want := range map[int]string{chat.MostNews: "mention [bob cyn]", chat.MostNews + 1: "mention [bob]"} {
		h := newTestService(t, chat.Options{Presence: newTestPresence(t)})
		room := h.room(chat.Private, "ann", "bob", "cyn")
		_, err := h.Send(h.ctx, chat.User{ID: "ann"}, chat.Message{Room: room, Key: "k", Text: "hello", MentionAll: true, Mentions: []string{"bob"}})
		h.must(err)
		entries, _, err := h.store.History(h.ctx, room, chat.Page{Limit: 1})
		h.must(err)
		large := chat.New(roomOfSize{h.store, members}, h.published, chat.Options{Presence: newTestPresence(t)})
		var users []string
		reason, err := large.Absent(h.ctx, entries[0], func(found []string) { users = append(users, found...) })
		h.must(err)
		if got := fmt.Sprint(reason, " ", users); got != want {
			t.Errorf("with %d members: %s, want %s", members, got, want)
		}
	}
}

// roomOfSize is a store that says of each room that it has so many members.
type roomOfSize struct {
	chat.Store

	members int
}

func (s roomOfSize) Room(ctx context.Context, room string) (chat.Room, error) {
	r, err := s.Store.Room(ctx, room)
	r.Members = s.members
	return r, err
}
