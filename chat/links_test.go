package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

// TestInviteLink follows a link from its creation: its preview, a user that enters by it, its end.
func TestInviteLink(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob")
	h.must(h.SignIn(h.ctx, person("cyn")))
	l, err := h.CreateLink(h.ctx, person("ann"), chat.CreateLink{Room: room, MaxUses: 1})
	h.must(err)
	code := l.Code
	if got := l.ExpiresAt.Sub(l.CreatedAt); got != 7*24*time.Hour {
		t.Errorf("the link is for %v", got)
	}
	if strings.Contains(code, l.ID) || !strings.HasPrefix(code, room+".") {
		t.Errorf("the code %s of the link %s", code, l.ID)
	}
	in, err := h.Invitation(h.ctx, code)
	if h.must(err); in.Room.Name != "the room" || in.By != person("ann") || !slices.Equal(in.People, []chat.User{person("ann"), person("bob")}) {
		t.Errorf("the link shows %+v", in)
	}
	h.standing(room, "cyn") // is cached
	h.takeChanged()
	m, _, err := h.JoinByLink(h.ctx, person("cyn"), code)
	if h.must(err); m.Room.ID != room || m.Room.Members != 3 || m.Role != chat.Plain {
		t.Errorf("cyn is in %+v", m)
	}
	if got := h.published.take(); len(got) != 3 || got[0].To != "cyn" || got[1].Entry != 1 {
		t.Errorf("published %+v", got)
	}
	if got, want := h.takeChanged(), [][2]string{{room, "cyn"}}; !slices.Equal(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
	h.must(h.standing(room, "cyn").MayRead())
	if again, _, err := h.JoinByLink(h.ctx, person("cyn"), code); err != nil || again.Room.ID != room {
		t.Errorf("again: %+v, %v", again, err)
	}
	h.deadCode(code) // used up
	for _, bad := range []string{"", ".", "none", code + "x", code[:len(code)-1], code[:len(code)-1] + "-", "none" + code[len(room):], code[len(room):], strings.ToUpper(code)} {
		h.deadCode(bad)
	}
}

// TestInviteLinkIntoTheLobby shows a link into the room that the server keeps. The server's own user is no member that visitors see.
func TestInviteLinkIntoTheLobby(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, chat.LobbyHost, "ann", "bob", "cyn", "dan", "eve")
	l, err := h.CreateLink(h.ctx, person("ann"), chat.CreateLink{Room: room})
	h.must(err)
	in, err := h.Invitation(h.ctx, l.Code)
	if want := []chat.User{person("ann"), person("bob"), person("cyn"), person("dan"), person("eve")}; err != nil || in.Room.Members != 5 || !slices.Equal(in.People, want) {
		t.Errorf("the link shows %d members and %+v, %v; want 5 and %+v", in.Room.Members, in.People, err, want)
	}
}

// deadCode fails the test unless nobody sees or enters a room by the code.
func (h *testService) deadCode(code string) {
	h.Helper()
	_, shown := h.Invitation(h.ctx, code)
	_, _, joined := h.JoinByLink(h.ctx, person("dan"), code)
	for _, err := range []error{shown, joined} {
		if field := new(chat.FieldError); !errors.Is(err, chat.ErrNotFound) || !errors.As(err, &field) || field.Field != "code" {
			h.Errorf("code %q: %v, want not found, the field code", code, err)
		}
	}
}

// TestInviteLinkEnds revokes links, and takes from their creator the right to invite. Admins see and revoke all links, other members their own.
func TestInviteLinkEnds(t *testing.T) {
	now := time.Now()
	h := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	room := h.room(chat.Public, "ann", "bob", "cyn")
	h.must(h.SetRole(h.ctx, person("ann"), room, "cyn", chat.Admin))
	create := func(by string) (id, code string) {
		t.Helper()
		now = now.Add(time.Second)
		l, err := h.CreateLink(h.ctx, person(by), chat.CreateLink{Room: room, TTL: time.Hour})
		h.must(err)
		return l.ID, l.Code
	}
	see := func(user string, want ...string) {
		t.Helper()
		links, err := h.Links(h.ctx, user, room)
		h.must(err)
		var ids []string
		for _, l := range links {
			ids = append(ids, l.ID)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%s sees %q, want %q", user, ids, want)
		}
	}
	anns, annsCode := create("ann")
	bobs, bobsCode := create("bob")
	see("ann", bobs, anns)
	see("cyn", bobs, anns)
	see("bob", bobs)
	h.must(h.RevokeLink(h.ctx, "bob", room, anns))
	see("ann", bobs, anns)
	h.must(h.RevokeLink(h.ctx, "cyn", room, anns))
	see("ann", bobs)
	h.deadCode(annsCode)

	h.must(h.Kick(h.ctx, person("ann"), room, "bob"))
	h.deadCode(bobsCode)
	_, err := h.Links(h.ctx, "bob", room)
	h.refused(err, chat.ErrNotMember)
	h.refused(h.RevokeLink(h.ctx, "bob", room, bobs), chat.ErrNotMember)
	_, code := create("ann")
	_, err = h.Invitation(h.ctx, code)
	h.must(err)
	now = now.Add(time.Hour)
	h.deadCode(code)
	_, code = create("ann")
	h.must(h.DeleteRoom(h.ctx, person("ann"), room))
	h.deadCode(code)
}

// TestInviteLinkLimits makes links until the room has too many.
func TestInviteLinkLimits(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	for _, bad := range []chat.CreateLink{{}, {Room: room, TTL: -1}, {Room: room, MaxUses: -1}} {
		_, err := h.CreateLink(h.ctx, person("ann"), bad)
		h.refused(err, chat.ErrBadRequest)
	}
	for range 50 {
		_, err := h.CreateLink(h.ctx, person("ann"), chat.CreateLink{Room: room})
		h.must(err)
	}
	_, err := h.CreateLink(h.ctx, person("ann"), chat.CreateLink{Room: room})
	h.refused(err, chat.ErrLimitExceeded)
}

// TestJoinRequests has users ask to enter by a link that needs approval. The owner and admins are told, let one in, and refuse another.
func TestJoinRequests(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob", "adm")
	h.must(h.SetRole(h.ctx, person("ann"), room, "adm", chat.Admin))
	l, err := h.CreateLink(h.ctx, person("ann"), chat.CreateLink{Room: room, Approval: true})
	h.must(err)
	code := l.Code
	if in, err := h.Invitation(h.ctx, code); err != nil || !in.Asks {
		t.Errorf("the link shows %+v, %v", in, err)
	}
	ask := func(user string) {
		t.Helper()
		if m, waiting, err := h.JoinByLink(h.ctx, person(user), code); err != nil || !waiting || m.Role != chat.NoRole {
			t.Errorf("%s gets %+v, %v, %v", user, m, waiting, err)
		}
	}
	told := func(count int) (all []publication) {
		event := chat.JoinRequested{Room: room, Count: count}
		return []publication{{To: "ann", Event: event}, {To: "adm", Event: event}}
	}
	asking := func(want ...string) {
		t.Helper()
		requests, err := h.JoinRequests(h.ctx, "adm", room)
		h.must(err)
		var users []string
		for _, r := range requests {
			users = append(users, r.User.ID)
		}
		if !slices.Equal(users, want) {
			t.Errorf("%q ask, want %q", users, want)
		}
	}
	h.published.take()
	ask("cyn")
	h.wantPublished(told(1)...)
	ask("cyn")
	h.wantPublished()
	ask("dan")
	h.wantPublished(told(2)...)
	asking("cyn", "dan")
	h.refused(h.standing(room, "cyn").MayRead(), chat.ErrNotFound)
	_, err = h.JoinRequests(h.ctx, "bob", room)
	h.refused(err, chat.ErrForbidden)
	h.refused(h.AnswerRequest(h.ctx, person("bob"), room, "cyn", true), chat.ErrForbidden)
	h.refused(h.AnswerRequest(h.ctx, person("ann"), room, "eve", true), chat.ErrNotFound)
	h.must(h.RevokeLink(h.ctx, "ann", room, l.ID))
	ask("cyn") // goes on asking

	for range 2 {
		h.must(h.AnswerRequest(h.ctx, person("adm"), room, "dan", false))
		h.must(h.AnswerRequest(h.ctx, person("adm"), room, "cyn", true))
	}
	asking()
	h.must(h.standing(room, "cyn").MayRead())
	h.refused(h.standing(room, "dan").MayRead(), chat.ErrNotFound)
	if got := h.published.take(); len(got) < 6 || got[0] != (publication{To: "dan", Event: chat.JoinRefused{Room: room}}) ||
		!slices.Equal(got[1:3], told(1)) || got[3].To != "cyn" || got[4].Entry == 0 || !slices.Equal(got[len(got)-2:], told(0)) {
		t.Errorf("published %+v", got)
	}
	h.deadCode(code)
}

// TestRepeatedLink repeats a request with its key, as after a lost reply. It must give the same link, and other users or rooms another one.
func TestRepeatedLink(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room, other := h.room(chat.Private, "ann", "bob"), h.room(chat.Private, "ann")
	create := func(by string, r chat.CreateLink) chat.MadeLink {
		t.Helper()
		r.Key = "k"
		l, err := h.CreateLink(h.ctx, person(by), r)
		h.must(err)
		return l
	}
	h.must(h.SetRole(h.ctx, person("ann"), room, "bob", chat.Admin))
	first := create("ann", chat.CreateLink{Room: room, MaxUses: 2})
	again := create("ann", chat.CreateLink{Room: room, MaxUses: 2, TTL: 7 * 24 * time.Hour})
	if !again.Dup || first.Dup || again.Link != first.Link || again.Code != first.Code {
		t.Errorf("made %+v, then %+v", first, again)
	}
	if _, _, err := h.JoinByLink(h.ctx, person("cyn"), again.Code); err != nil {
		t.Errorf("cyn enters by the link: %v", err)
	}
	for by, in := range map[string]string{"bob": room, "ann": other} {
		if l := create(by, chat.CreateLink{Room: in, MaxUses: 2}); l.Dup || l.Code == first.Code {
			t.Errorf("%s has made %+v in %s", by, l, in)
		}
	}
	_, err := h.CreateLink(h.ctx, person("ann"), chat.CreateLink{Room: room, Key: "k", MaxUses: 3})
	h.refused(err, chat.ErrKeyReused)
	_, err = h.CreateLink(h.ctx, person("ann"), chat.CreateLink{Room: room, Key: "two words"})
	h.refused(err, chat.ErrBadRequest)
	h.must(h.RevokeLink(h.ctx, "ann", room, first.ID))
	if l := create("ann", chat.CreateLink{Room: room, MaxUses: 2}); l.Dup || l.Code == first.Code {
		t.Errorf("after the end of the link there is %+v", l)
	}
}
