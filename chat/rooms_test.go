package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/store/memstore"
)

func TestCreateRoomTellsEveryMember(t *testing.T) {
	h := newTestService(t, chat.Options{})
	h.must(h.SignIn(h.ctx, person("bob")))
	h.must(h.SignIn(h.ctx, person("cyn")))
	r := chat.CreateRoom{Key: "k", Name: "  恭喜 ", Members: []string{"bob", "ann", "cyn", "bob"}}
	m, dup, err := h.CreateRoom(h.ctx, person("ann"), r)
	h.must(err)
	if dup || m.Room.Name != "恭喜" || m.Room.Kind != chat.Private || m.Room.Members != 3 || m.Role != chat.Owner {
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
	r.Kind = chat.Private // the default kind
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
		{chat.CreateRoom{Name: "a", Kind: chat.Public}, "key", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k"}, "name", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: " \t\n", Kind: chat.Public}, "name", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "恭喜发财", Kind: chat.Public}, "name", chat.ErrTooLong},
		{chat.CreateRoom{Key: "k", Name: "a\x00", Kind: chat.Public}, "name", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Direct}, "kind", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: "PUBLIC"}, "kind", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Public, Members: []string{"1", "2", "3"}}, "members", chat.ErrLimitExceeded},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Public, Members: []string{""}}, "members", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Public, Members: []string{strings.Repeat("u", 65)}}, "members", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Public, Members: []string{"unknown"}}, "members", chat.ErrContactRefused},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Public, Invite: "owner"}, "invite", chat.ErrBadRequest},
		{chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Public, Members: []string{"guest:g"}, NoGuests: true}, "guests", chat.ErrForbidden},
	} {
		_, _, err := h.CreateRoom(h.ctx, person("ann"), test.r)
		var bad *chat.FieldError
		if !errors.Is(err, test.want) || !errors.As(err, &bad) || bad.Field != test.field {
			t.Errorf("%+v: error %v, want %v of %s", test.r, err, test.want, test.field)
		}
	}
	if _, _, err := h.CreateRoom(h.ctx, person("ann"), chat.CreateRoom{Key: "k", Name: " 恭喜发 ", Kind: chat.Public}); err != nil {
		t.Errorf("a name of just the limit: %v", err)
	}
}

// TestSettingsOfANewRoom creates rooms with settings. A setting that is as usual must make no other request of the same
// key, and any other one must.
func TestSettingsOfANewRoom(t *testing.T) {
	h := newTestService(t, chat.Options{})
	for kind, usual := range map[chat.RoomKind]chat.Inviters{chat.Public: chat.MembersInvite, chat.Private: chat.AdminsInvite} {
		r := chat.CreateRoom{Key: string(kind), Name: "a", Kind: kind}
		m, _, err := h.CreateRoom(h.ctx, person("ann"), r)
		if h.must(err); m.Room.Inviters() != usual || m.Room.NoGuests {
			t.Errorf("a usual room is %+v, want %s to invite", m.Room, usual)
		}
		r.Invite = usual
		if again, dup, err := h.CreateRoom(h.ctx, person("ann"), r); err != nil || !dup || again != m {
			t.Errorf("with the default spelt out: %+v, dup %v, %v", again, dup, err)
		}
		r.NoGuests = true
		_, _, err = h.CreateRoom(h.ctx, person("ann"), r)
		h.refused(err, chat.ErrKeyReused)
		r.NoGuests, r.NoPackets = false, true
		_, _, err = h.CreateRoom(h.ctx, person("ann"), r)
		h.refused(err, chat.ErrKeyReused)
	}
	r := chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Public, Invite: chat.AdminsInvite, NoGuests: true, NoPackets: true}
	m, _, err := h.CreateRoom(h.ctx, person("ann"), r)
	if h.must(err); m.Room.Inviters() != chat.AdminsInvite || !m.Room.NoGuests || !m.Room.NoPackets {
		t.Errorf("made %+v", m.Room)
	}
	if again, dup, err := h.CreateRoom(h.ctx, person("ann"), r); err != nil || !dup || again != m {
		t.Errorf("the same again: %+v, dup %v, %v", again, dup, err)
	}
	r.Invite = chat.MembersInvite
	_, _, err = h.CreateRoom(h.ctx, person("ann"), r)
	h.refused(err, chat.ErrKeyReused)
	_, _, err = h.CreateRoom(h.ctx, person("guest:g"), chat.CreateRoom{Key: "k", Name: "a", Kind: chat.Public, NoGuests: true})
	h.wrong(err, chat.ErrForbidden, "guests")
}

// TestGuestsStayOut closes rooms to guests. A guest must be refused on each way in, and a guest that is a member must stay.
func TestGuestsStayOut(t *testing.T) {
	h := newTestService(t, chat.Options{})
	ann, guest, member := person("ann"), person("guest:g"), person("guest:member")
	h.must(h.SignIn(h.ctx, guest))
	public, private := h.room(chat.Public, "ann", member.ID), h.room(chat.Private, "ann", guest.ID)
	h.must(h.Leave(h.ctx, guest, private))
	for _, room := range []string{public, private} {
		m, err := h.UpdateRoom(h.ctx, ann, room, chat.RoomChange{Guests: new(false)})
		if h.must(err); !m.Room.NoGuests {
			t.Errorf("updated %+v", m.Room)
		}
		_, err = h.Join(h.ctx, guest, room)
		h.wrong(err, chat.ErrForbidden, "guests")
	}
	h.wrong(h.Invite(h.ctx, ann, public, []string{guest.ID}), chat.ErrForbidden, "guests")
	if m, err := h.Join(h.ctx, member, public); err != nil || m.Role != chat.Plain {
		t.Errorf("a guest that is a member joins again: %+v, %v", m, err)
	}
	h.sendText(public, member.ID, "k")
	_, err := h.UpdateRoom(h.ctx, ann, private, chat.RoomChange{Guests: new(true)})
	h.must(err)
	if m, err := h.Join(h.ctx, guest, private); err != nil || m.Role != chat.Plain {
		t.Errorf("a guest comes back to a room that is open again: %+v, %v", m, err)
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
	_, err := h.Join(h.ctx, person("cyn"), room)
	h.refused(err, chat.ErrNotFound)
	h.wantPublished()
}

// TestUserComesBackToAPrivateRoom leaves a private room. No invitation brings the user back, but the user's own Join does.
func TestUserComesBackToAPrivateRoom(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob", "cyn")
	h.must(h.Kick(h.ctx, person("ann"), room, "cyn"))
	_, err := h.Join(h.ctx, person("cyn"), room)
	h.refused(err, chat.ErrForbidden)
	h.must(h.Leave(h.ctx, person("bob"), room))
	h.refused(h.Invite(h.ctx, person("ann"), room, []string{"bob"}), chat.ErrContactRefused)
	h.Stop() // no member count is published later
	h.published.take()
	m, err := h.Join(h.ctx, person("bob"), room)
	h.must(err)
	if m.Room.ID != room || m.Room.Members != 2 || m.Role != chat.Plain || m.Room.LastSeq != 3 {
		t.Errorf("joined as %+v", m)
	}
	entered := chat.Entered{Membership: chat.Membership{Room: m.Room, Role: chat.Plain, ReadSeq: 2}}
	entered.Membership.Room.LastSeq = 2
	h.wantPublished(publication{To: "bob", Event: entered}, publication{To: room, Entry: 3})
	h.must(h.Invite(h.ctx, person("ann"), room, []string{"cyn"})) // was removed, and has not left
}

// TestStrangerHasNoNameAndNoPresence opens a direct room with a user that shares no other room. Until that user answers,
// the caller learns no name, and not whether the user is online.
func TestStrangerHasNoNameAndNoPresence(t *testing.T) {
	directory := memstore.NewDirectory().Presence()
	h := newTestService(t, chat.Options{Presence: directory})
	_, _, err := directory.Enter(h.ctx, "bob", "socket", 1)
	h.must(err)
	h.must(h.SignIn(h.ctx, person("bob")))
	m, err := h.Direct(h.ctx, person("ann"), "bob")
	h.must(err)
	look := func() (bob chat.Member, online int) {
		h.published.take()
		h.must(h.AnnouncePresence(h.ctx, []string{"bob"}, true))
		members, _, err := h.Members(h.ctx, "ann", m.Room.ID, "", 0)
		h.must(err)
		online, _, err = h.Service.Online(h.ctx, "ann", m.Room.ID)
		h.must(err)
		i := slices.IndexFunc(members, func(m chat.Member) bool { return m.User.ID == "bob" })
		return members[i], online
	}
	if bob, online := look(); bob.User != (chat.User{ID: "bob"}) || !bob.Stranger || online != 0 {
		t.Errorf("before the answer: %+v, %d online", bob, online)
	}
	h.wantPublished()
	_, err = h.Send(h.ctx, person("bob"), chat.Message{Room: m.Room.ID, Key: "k", Text: "hi"})
	h.must(err)
	if bob, online := look(); bob.User != person("bob") || bob.Stranger || online != 1 {
		t.Errorf("after the answer: %+v, %d online", bob, online)
	}
	h.wantPublished(publication{To: m.Room.ID, Event: chat.PresenceChanged{Room: m.Room.ID, User: "bob", Online: true}})
}

func TestBlock(t *testing.T) {
	h := newTestService(t, chat.Options{Limits: chat.Limits{Blocks: 1}})
	ann, bob := person("ann"), person("bob")
	shared := h.room(chat.Public, "ann", "bob")
	m, err := h.Direct(h.ctx, bob, "ann")
	h.must(err)
	h.Stop() // no member count is published later
	h.published.take()
	h.must(h.Block(h.ctx, ann, "bob"))
	h.wantPublished(publication{To: "ann", Event: chat.ContactsChanged{User: "bob", Blocked: true}}, publication{To: m.Room.ID, Entry: 1},
		publication{To: "ann", Event: chat.Exited{Room: m.Room.ID, Reason: "left", Through: 1}})
	_, err = h.Send(h.ctx, bob, chat.Message{Room: m.Room.ID, Key: "k1", Text: "hear me"})
	h.refused(err, chat.ErrContactRefused)
	_, err = h.Direct(h.ctx, ann, "bob")
	h.refused(err, chat.ErrContactRefused)
	h.refused(h.Invite(h.ctx, bob, h.room(chat.Public, "bob"), []string{"ann"}), chat.ErrContactRefused)

	mention := chat.Message{Room: shared, Key: "k2", Text: "@ann @bob", Mentions: []string{"ann", "bob"}}
	for range 2 {
		_, err = h.Send(h.ctx, bob, mention)
		h.must(err)
	}
	if want := []string{`text {"text":"@ann @bob","mentions":["bob"]}`}; !slices.Equal(h.bodies(shared, "bob"), want) {
		t.Errorf("the room has %q, want %q", h.bodies(shared, "bob"), want)
	}
	h.refused(h.Block(h.ctx, ann, "cyn"), chat.ErrLimitExceeded)
	h.refused(h.Block(h.ctx, ann, "ann"), chat.ErrBadRequest)
	h.refused(h.Unblock(h.ctx, ann, ""), chat.ErrBadRequest)
	h.refused(h.SetContact(h.ctx, "ann", "friends"), chat.ErrBadRequest)
	h.published.take()
	h.must(h.Unblock(h.ctx, ann, "bob"))
	h.must(h.SetContact(h.ctx, "ann", chat.Shared))
	h.wantPublished(publication{To: "ann", Event: chat.ContactsChanged{User: "bob"}}, publication{To: "ann", Event: chat.ContactsChanged{Contact: chat.Shared}})
	_, err = h.Direct(h.ctx, ann, "bob")
	h.must(err)
	_, err = h.Send(h.ctx, bob, chat.Message{Room: m.Room.ID, Key: "k3", Text: "again"})
	h.must(err)
	h.must(h.SetContact(h.ctx, "ann", chat.Nobody))
	if c, err := h.Contacts(h.ctx, "ann"); err != nil || c.Contact != chat.Nobody || len(c.Blocked) != 0 {
		t.Errorf("contacts %+v, %v", c, err)
	}
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

// TestRoomIsFoundByItsID searches by ids, as the page does for a link to a public room. Only a public room that a search by name lists may
// be found.
func TestRoomIsFoundByItsID(t *testing.T) {
	h := newTestService(t, chat.Options{})
	public, private := h.room(chat.Public, "ann"), h.room(chat.Private, "ann")
	find := func(query, next string) (ids []string) {
		t.Helper()
		rooms, _, err := h.FindRooms(h.ctx, query, next, 0)
		h.must(err)
		for _, r := range rooms {
			ids = append(ids, r.ID)
		}
		return ids
	}
	if got := find(public, ""); !slices.Equal(got, []string{public}) {
		t.Errorf("the id %s finds %q", public, got)
	}
	for _, query := range []string{private, "none", public[1:]} {
		if got := find(query, ""); len(got) > 0 {
			t.Errorf("%q finds %q", query, got)
		}
	}
	h.must(h.Leave(h.ctx, person("ann"), public))
	if got := find(public, ""); len(got) > 0 {
		t.Errorf("the id of an empty room finds %q", got)
	}
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
