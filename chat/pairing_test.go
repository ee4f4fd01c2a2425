package chat_test

import (
	"slices"
	"strings"
	"testing"

	"hongbao/chat"
)

func TestDirectRoom(t *testing.T) {
	h := newTestService(t, chat.Options{})
	ann, bob := person("ann"), person("bob")
	_, err := h.Direct(h.ctx, ann, "bob")
	h.wrong(err, chat.ErrContactRefused, "user")
	_, err = h.Direct(h.ctx, ann, "ann")
	h.wrong(err, chat.ErrBadRequest, "user")
	_, err = h.Direct(h.ctx, ann, strings.Repeat("u", 65))
	h.wrong(err, chat.ErrBadRequest, "user")
	h.wantPublished()

	h.must(h.SignIn(h.ctx, bob))
	m, err := h.Direct(h.ctx, ann, "bob")
	h.must(err)
	room := m.Room.ID
	if m.Role != chat.Plain || m.Room.Kind != chat.Direct || m.Room.Name != "" || m.Room.Members != 2 {
		t.Errorf("made %+v", m)
	}
	entered := chat.Entered{Membership: m}
	h.wantPublished(
		publication{To: "ann", Event: entered}, publication{To: "bob", Event: entered},
		publication{To: room, Event: chat.MembersCounted{Room: room, Count: 2}},
	)
	if got, want := h.takeChanged(), [][2]string{{room, "ann"}, {room, "bob"}}; !slices.Equal(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
	if again, err := h.Direct(h.ctx, bob, "ann"); err != nil || again != m {
		t.Errorf("the other one asks: %+v, %v; want %+v", again, err, m)
	}
	h.wantPublished()
}

// TestDirectBringsBackOnlyTheCaller calls Direct after one of the users has left. Only that user's own call makes the
// user a member again. The user gets Entered before the entry that records it.
func TestDirectBringsBackOnlyTheCaller(t *testing.T) {
	h := newTestService(t, chat.Options{})
	h.must(h.SignIn(h.ctx, person("bob")))
	m, err := h.Direct(h.ctx, person("ann"), "bob")
	h.must(err)
	room := m.Room.ID
	h.Stop() // no member count is published later
	h.standing(room, "bob")
	h.must(h.Leave(h.ctx, person("bob"), room))
	if h.standing(room, "bob").In {
		t.Error("still in")
	}
	_, err = h.Direct(h.ctx, person("ann"), "bob")
	h.must(err)
	if h.standing(room, "bob").In {
		t.Error("bob was brought back")
	}
	_, err = h.Send(h.ctx, person("ann"), chat.Message{Room: room, Key: "refused", Text: "come back"})
	h.refused(err, chat.ErrContactRefused)
	h.published.take()
	h.takeChanged()
	m, err = h.Direct(h.ctx, person("bob"), "ann")
	h.must(err)
	if m.Room.ID != room || m.Room.LastSeq != 2 {
		t.Errorf("another room or none of its entries: %+v", m)
	}
	back := chat.Membership{Room: m.Room, Role: chat.Plain, ReadSeq: 1}
	back.Room.LastSeq = 1
	published := h.published.take()
	if want := []publication{{To: "bob", Event: chat.Entered{Membership: back}}, {To: room, Entry: 2}}; !slices.Equal(published, want) {
		t.Errorf("published\n  %+v\nwant\n  %+v", published, want)
	}
	if got, want := h.takeChanged(), [][2]string{{room, "bob"}, {room, "ann"}}; !slices.Equal(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
	if !h.standing(room, "bob").In {
		t.Error("the cached standing of a former member is still used")
	}
	if want := `member {"user":"bob","change":"invited","by":"bob"}`; h.bodies(room, "bob")[1] != want {
		t.Errorf("entries %q", h.bodies(room, "bob"))
	}
	h.refused(h.Kick(h.ctx, person("ann"), room, "bob"), chat.ErrForbidden)
	h.refused(h.DeleteRoom(h.ctx, person("ann"), room), chat.ErrForbidden)
}
