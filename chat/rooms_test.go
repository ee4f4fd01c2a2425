package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

func TestCreateRoomTellsEveryMember(t *testing.T) {
	h := newTestService(t, chat.Options{})
	h.must(h.SignIn(h.ctx, person("bob")))
	h.must(h.SignIn(h.ctx, person("cyn")))
	r := chat.CreateRoom{Key: "k", Name: "  恭喜 ", Members: []string{"bob", "ann", "cyn", "bob"}}
	m, dup, err := h.CreateRoom(h.ctx, person("ann"), r)
	h.must(err)
	if dup || m.Room.Name != "恭喜" || m.Room.Kind != chat.Public || m.Room.Members != 3 || m.Role != chat.Owner {
		t.Errorf("made %+v, dup %v", m, dup)
	}
	other := chat.Membership{Room: m.Room, Role: chat.Plain}
	h.wantPublished(
		publication{To: "ann", Event: chat.Entered{Membership: m}},
		publication{To: "bob", Event: chat.Entered{Membership: other}},
		publication{To: "cyn", Event: chat.Entered{Membership: other}},
	)
	if rooms, err := h.Rooms(h.ctx, "bob"); err != nil || !slices.Equal(rooms, []chat.Membership{other}) {
		t.Errorf("bob is in %+v, %v; but was published %+v", rooms, err, other)
	}
	if again, dup, err := h.CreateRoom(h.ctx, person("ann"), r); err != nil || !dup || again != m {
		t.Errorf("the same again: %+v, dup %v, %v", again, dup, err)
	}
	r.Kind = chat.Public // the default kind
	if again, dup, err := h.CreateRoom(h.ctx, person("ann"), r); err != nil || !dup || again != m {
		t.Errorf("with the default spelt out: %+v, dup %v, %v", again, dup, err)
	}
	r.Members = r.Members[1:]
	_, _, err = h.CreateRoom(h.ctx, person("ann"), r)
	h.refused(err, chat.ErrKeyReused)
	h.wantPublished()
}

func TestRoomIsChecked(t *testing.T) {
	h := newTestService(t, chat.Options{Limits: chat.Limits{NameChars: 3, InviteUsers: 2}})
	for _, test := range []struct {
		r     chat.CreateRoom
		field string
		want  error
	}{
		{chat.CreateRoom{Name: "a"}, "key", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k"}, "name", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: " \t\n"}, "name", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "恭喜发财"}, "name", chat.ErrTooLong},
		{chat.CreateRoom{Key: "k", Name: "a\x00"}, "name", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Direct}, "kind", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: "PUBLIC"}, "kind", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Members: []string{"1", "2", "3"}}, "members", chat.ErrLimitExceeded},
		{chat.CreateRoom{Key: "k", Name: "a", Members: []string{""}}, "members", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Members: []string{strings.Repeat("u", 65)}}, "members", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Members: []string{"unknown"}}, "members", chat.ErrNotFound},
	} {
		_, _, err := h.CreateRoom(h.ctx, person("ann"), test.r)
		var bad *chat.FieldError
		if !errors.Is(err, test.want) || !errors.As(err, &bad) || bad.Field != test.field {
			t.Errorf("%q: error %v, want %v of %s", test.r, err, test.want, test.field)
		}
	}
	if _, _, err := h.CreateRoom(h.ctx, person("ann"), chat.CreateRoom{Key: "k", Name: " 恭喜发 "}); err != nil {
		t.Errorf("a name of just the limit: %v", err)
	}
}

func TestJoinAndLeave(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	m, err := h.Join(h.ctx, person("bob"), room)
	h.must(err)
	h.wantPublished(
		publication{To: "bob", Event: chat.Entered{Membership: m}},
		publication{To: room, Event: chat.MembersCounted{Room: room, Count: 2}},
	)
	if again, err := h.Join(h.ctx, person("bob"), room); err != nil || again != m {
		t.Errorf("joined again: %+v, %v; want %+v", again, err, m)
	}
	members, _, err := h.Members(h.ctx, "bob", room, "", 0)
	if h.must(err); len(members) != 2 || members[1].User != person("bob") {
		t.Errorf("members %+v", members)
	}
	h.wantPublished()

	other := h.room(chat.Public, "ann", "bob") // no member count of this room was published recently
	h.must(h.Leave(h.ctx, person("bob"), other))
	h.wantPublished(
		publication{To: "bob", Event: chat.Exited{Room: other, Reason: "left"}},
		publication{To: other, Event: chat.MembersCounted{Room: other, Count: 1}},
	)
	h.must(h.Leave(h.ctx, person("bob"), other))
	h.wantPublished()
	_, _, err = h.Members(h.ctx, "bob", other, "", 0)
	h.refused(err, chat.ErrNotMember)
}

func TestOwnerLeaves(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob")
	h.must(h.Leave(h.ctx, person("ann"), room))
	h.wantPublished(
		publication{To: room, Entry: 1}, publication{To: room, Entry: 2},
		publication{To: "ann", Event: chat.Exited{Room: room, Reason: "left", Through: 1}},
		publication{To: room, Event: chat.MembersCounted{Room: room, Count: 1}},
	)
	public := h.room(chat.Public, "ann", "bob")
	h.must(h.Leave(h.ctx, person("ann"), public))
	h.wantPublished( // one entry says which user is the owner now; no entry says that the old owner has left
		publication{To: public, Entry: 1},
		publication{To: "ann", Event: chat.Exited{Room: public, Reason: "left"}},
		publication{To: public, Event: chat.MembersCounted{Room: public, Count: 1}},
	)
	_, err := h.Join(h.ctx, person("ann"), room)
	h.refused(err, chat.ErrForbidden)
	_, err = h.Join(h.ctx, person("cyn"), room)
	h.refused(err, chat.ErrNotFound)
	h.wantPublished()
}

func TestListsAreChecked(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	if rooms, next, err := h.FindRooms(h.ctx, "room", "", 0); err != nil || next != "" || len(rooms) != 1 || rooms[0].ID != room {
		t.Errorf("found %+v, next %q, %v", rooms, next, err)
	}
	_, _, err := h.FindRooms(h.ctx, "", "", -1)
	h.refused(err, chat.ErrBadRequest)
	_, _, err = h.FindRooms(h.ctx, "a\x00", "", 0)
	h.refused(err, chat.ErrBadRequest)
	_, _, err = h.FindRooms(h.ctx, "", "no cursor", 0)
	h.refused(err, chat.ErrBadRequest)
	_, _, err = h.Members(h.ctx, "ann", room, "", -1)
	h.refused(err, chat.ErrBadRequest)
	_, err = h.Join(h.ctx, person("bob"), "")
	h.refused(err, chat.ErrBadRequest)
	h.refused(h.Leave(h.ctx, person("bob"), ""), chat.ErrBadRequest)
	h.refused(h.Leave(h.ctx, person("bob"), room), chat.ErrNotMember)
}

// TestCountIsMerged lets members join and leave. The first change of the count must be published at once, and those
// within a second after it together. While no member comes or goes, nothing may be published.
func TestCountIsMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestService(t, chat.Options{})
		room := h.room(chat.Public, "ann")
		counted := func(n int) publication {
			return publication{To: room, Event: chat.MembersCounted{Room: room, Count: n}}
		}
		for _, u := range []string{"bob", "cyn", "dan"} {
			_, err := h.Join(h.ctx, person(u), room)
			h.must(err)
		}
		counts := func() (published []publication) {
			synctest.Wait()
			for _, t := range h.published.take() {
				if t.To == room {
					published = append(published, t)
				}
			}
			return published
		}
		if got := counts(); !slices.Equal(got, []publication{counted(2)}) {
			t.Errorf("at once: %+v", got)
		}
		time.Sleep(time.Second)
		if got := counts(); !slices.Equal(got, []publication{counted(4)}) {
			t.Errorf("after a second: %+v", got)
		}
		h.must(h.Leave(h.ctx, person("bob"), room))
		time.Sleep(999 * time.Millisecond)
		if got := counts(); len(got) != 0 {
			t.Errorf("too early: %+v", got)
		}
		time.Sleep(time.Hour)
		if got := counts(); !slices.Equal(got, []publication{counted(3)}) {
			t.Errorf("at last: %+v", got)
		}
		h.must(h.Leave(h.ctx, person("cyn"), room))
		if got := counts(); !slices.Equal(got, []publication{counted(2)}) {
			t.Errorf("after a rest, at once: %+v", got)
		}
		time.Sleep(time.Minute)
	})
}
