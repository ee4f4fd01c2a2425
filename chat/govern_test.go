package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

// moved takes who was said to the other instances to stand otherwise.
func (h *house) moved() [][2]string {
	h.told.mu.Lock()
	defer h.told.mu.Unlock()
	all := h.told.moved
	h.told.moved = nil
	return all
}

// bodies of the room's entries as the user sees them, each after its kind.
func (h *house) bodies(room, user string) (bodies []string) {
	h.Helper()
	entries, _, err := h.History(h.ctx, user, room, chat.Page{})
	h.must(err)
	for _, e := range entries {
		bodies = append(bodies, string(e.Kind)+" "+string(e.Body))
	}
	return bodies
}

func TestInviteTellsInOrder(t *testing.T) {
	h := newHouse(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob")
	for _, u := range []string{"cyn", "dan"} {
		h.must(h.SignIn(h.ctx, person(u)))
		h.refused(h.standing(room, u).MayRead(), chat.ErrNotFound)
	}
	h.say(room, "ann", "k")
	h.told.take()
	h.moved()
	h.must(h.Invite(h.ctx, person("bob"), room, []string{"cyn", "bob", "dan", "cyn"}))
	entered := h.told.take()
	m, ok := entered[0].Event.(chat.Entered)
	if !ok || m.Membership.Room.ID != room || m.Membership.Room.Members != 4 {
		t.Fatalf("told %+v", entered)
	}
	want := chat.Entered{Membership: chat.Membership{Room: m.Membership.Room, Role: chat.Plain, ReadSeq: 1}}
	want.Membership.Room.LastSeq = 1
	if all := []telling{
		{To: "cyn", Event: want}, {To: "dan", Event: want}, {To: room, Entry: 2}, {To: room, Entry: 3},
		{To: room, Event: chat.MembersCounted{Room: room, Count: 4}},
	}; !slices.Equal(entered, all) {
		t.Errorf("told\n  %+v\nwant\n  %+v", entered, all)
	}
	if got, want := h.moved(), [][2]string{{room, "cyn"}, {room, "dan"}}; !slices.Equal(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
	if rooms, err := h.Rooms(h.ctx, "cyn"); err != nil || len(rooms) != 1 || rooms[0].ReadSeq != 1 || rooms[0].Unread != 0 {
		t.Errorf("cyn is in %+v, %v", rooms, err)
	}
	h.must(h.Invite(h.ctx, person("cyn"), room, []string{"dan"}))
	h.heard()
}

func TestKickTellsInOrder(t *testing.T) {
	for _, test := range []struct {
		ban   bool
		word  string
		after chat.Standing
		back  error
	}{
		{false, "kicked", chat.Standing{Ever: true}, nil},
		{true, "banned", chat.Standing{Ever: true, Banned: true}, chat.ErrBanned},
	} {
		h := newHouse(t, chat.Options{})
		room := h.room(chat.Public, "ann", "bob")
		h.standing(room, "bob")
		h.moved()
		h.must(h.Kick(h.ctx, person("ann"), room, "bob", test.ban))
		h.heard(
			telling{To: room, Entry: 1},
			telling{To: "bob", Event: chat.Gone{Room: room, Reason: test.word, Through: 1}},
			telling{To: room, Event: chat.MembersCounted{Room: room, Count: 1}},
		)
		if got, want := h.moved(), [][2]string{{room, "bob"}}; !slices.Equal(got, want) {
			t.Errorf("moved %v, want %v", got, want)
		}
		if st := h.standing(room, "bob"); st != test.after {
			t.Errorf("%s: stands as %+v, want %+v", test.word, st, test.after)
		}
		h.must(h.Kick(h.ctx, person("ann"), room, "bob", test.ban))
		h.heard()
		if bodies := h.bodies(room, "ann"); !slices.Equal(bodies, []string{`member {"user":"bob","change":"` + test.word + `","by":"ann"}`}) {
			t.Errorf("entries %q", bodies)
		}
		h.Stop() // the next count would come later
		_, err := h.Join(h.ctx, person("bob"), room)
		h.refused(err, test.back)
		h.told.take()
		h.moved()
		h.must(h.Unban(h.ctx, person("ann"), room, "bob"))
		h.heard()
		if got, want := h.moved(), [][2]string{{room, "bob"}}; !slices.Equal(got, want) {
			t.Errorf("%s and unbanned: moved %v, want %v", test.word, got, want)
		}
		_, err = h.Join(h.ctx, person("bob"), room)
		h.must(err)
	}
}

// TestBanOfOneWhoIsOut: he hears of nothing, for he is out of nothing.
func TestBanOfOneWhoIsOut(t *testing.T) {
	h := newHouse(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	h.must(h.SignIn(h.ctx, person("bob")))
	h.must(h.Kick(h.ctx, person("ann"), room, "bob", true))
	h.heard(telling{To: room, Entry: 1})
	_, err := h.Join(h.ctx, person("bob"), room)
	h.refused(err, chat.ErrBanned)
}

// TestHandingOver: both are forgotten here, and named to the others.
func TestHandingOver(t *testing.T) {
	h := newHouse(t, chat.Options{})
	room := h.room(chat.Public, "ann", "bob")
	h.standing(room, "ann")
	h.standing(room, "bob")
	h.moved()
	h.must(h.SetRole(h.ctx, person("ann"), room, "bob", chat.Owner))
	h.heard(telling{To: room, Entry: 1}, telling{To: room, Entry: 2})
	moved := h.moved()
	slices.SortFunc(moved, func(a, b [2]string) int { return strings.Compare(a[1], b[1]) })
	if want := [][2]string{{room, "ann"}, {room, "bob"}}; !slices.Equal(moved, want) {
		t.Errorf("moved %v, want %v", moved, want)
	}
	if a, b := h.standing(room, "ann").Role, h.standing(room, "bob").Role; a != chat.Admin || b != chat.Owner {
		t.Errorf("ann is %s and bob is %s", a, b)
	}
	h.refused(h.SetRole(h.ctx, person("ann"), room, "bob", chat.Plain), chat.ErrForbidden)
	h.heard()
}

func TestMute(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_123)
	h := newHouse(t, chat.Options{Now: func() time.Time { return now }})
	room := h.room(chat.Public, "ann", "bob")
	h.standing(room, "bob")
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 60))
	h.heard(telling{To: room, Entry: 1})
	_, err := h.Send(h.ctx, person("bob"), chat.Message{Room: room, Key: "k", Text: "hello"})
	h.refused(err, chat.ErrMuted)
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 60)) // the same moment again
	h.heard()
	now = now.Add(time.Minute)
	h.say(room, "bob", "k")
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 0)) // it is over
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 1<<62))
	if until := h.standing(room, "bob").MutedUntil.UnixMilli(); until > 1<<53-1 || until < 1<<53-1000 {
		t.Errorf("muted for ever is until %d", until)
	}
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 0))
	h.say(room, "bob", "k2")
	last := h.bodies(room, "ann")
	if want := `member {"user":"bob","change":"muted","by":"ann"}`; len(last) != 5 || last[3] != want {
		t.Errorf("entries %q, want the fourth to be %s", last, want)
	}
}

func TestUpdateRoom(t *testing.T) {
	h := newHouse(t, chat.Options{Limits: chat.Limits{NameChars: 4, AnnouncementChars: 4}})
	room := h.again(chat.Options{}).room(chat.Public, "ann")
	str := func(s string) *string { return &s }
	m, err := h.UpdateRoom(h.ctx, person("ann"), room, chat.RoomChange{Name: str(" 恭喜发财 "), Announcement: str("news")})
	h.must(err)
	if m.Room.ID != room || m.Room.Name != "恭喜发财" || m.Room.Announcement != "news" || m.Room.LastSeq != 1 || m.Role != chat.Owner {
		t.Errorf("updated %+v", m)
	}
	h.heard(telling{To: room, Entry: 1})
	for _, same := range []chat.RoomChange{{}, {Name: str("")}, {Name: str("恭喜发财"), Announcement: str("news")}} {
		if again, err := h.UpdateRoom(h.ctx, person("ann"), room, same); err != nil || again != m {
			t.Errorf("nothing new: %+v, %v", again, err)
		}
	}
	h.heard()
	if m, err = h.UpdateRoom(h.ctx, person("ann"), room, chat.RoomChange{Announcement: str("")}); err != nil || m.Room.Announcement != "" {
		t.Errorf("announcement taken away: %+v, %v", m, err)
	}
	for _, bad := range []struct {
		to    chat.RoomChange
		field string
		want  error
	}{
		{chat.RoomChange{Name: str("恭喜发财!")}, "name", chat.ErrTooLong},
		{chat.RoomChange{Name: str(" ")}, "name", chat.ErrBadRequest},
		{chat.RoomChange{Announcement: str("12345")}, "announcement", chat.ErrTooLong},
		{chat.RoomChange{Announcement: str("\x00")}, "announcement", chat.ErrBadRequest},
	} {
		_, err := h.UpdateRoom(h.ctx, person("ann"), room, bad.to)
		h.wrong(err, bad.want, bad.field)
	}
}

// TestGovernIsChecked: what is wrong with the request itself is said to anyone.
func TestGovernIsChecked(t *testing.T) {
	h := newHouse(t, chat.Options{Limits: chat.Limits{InviteUsers: 2}})
	room := h.room(chat.Public, "ann", "bob")
	ann := person("ann")
	long := strings.Repeat("x", 65)
	h.wrong(h.Invite(h.ctx, ann, room, nil), chat.ErrBadRequest, "users")
	h.wrong(h.Invite(h.ctx, ann, room, []string{"bob", "bob", "bob"}), chat.ErrLimitExceeded, "users")
	h.wrong(h.Invite(h.ctx, ann, room, []string{"bob", long}), chat.ErrBadRequest, "users")
	h.wrong(h.Invite(h.ctx, ann, room, []string{"bob", "nobody"}), chat.ErrNotFound, "users")
	h.wrong(h.Invite(h.ctx, ann, "", []string{"bob"}), chat.ErrBadRequest, "room")
	h.wrong(h.Kick(h.ctx, ann, room, "", true), chat.ErrBadRequest, "user")
	h.wrong(h.Kick(h.ctx, ann, room, "nobody", false), chat.ErrNotFound, "user")
	h.wrong(h.Unban(h.ctx, ann, long, "bob"), chat.ErrBadRequest, "room")
	h.wrong(h.SetRole(h.ctx, ann, room, "bob", "king"), chat.ErrBadRequest, "role")
	h.wrong(h.SetRole(h.ctx, ann, room, "bob", ""), chat.ErrBadRequest, "role")
	h.wrong(h.SetRole(h.ctx, ann, room, "nobody", chat.Admin), chat.ErrNotFound, "user")
	h.wrong(h.Mute(h.ctx, ann, room, "bob", -1), chat.ErrBadRequest, "seconds")
	h.refused(h.Mute(h.ctx, ann, "no-room", "bob", 1), chat.ErrNotFound)
	h.refused(h.DeleteRoom(h.ctx, ann, "no-room"), chat.ErrNotFound)
	h.heard()
}

// wrong fails the test unless err says what is wrong with which field.
func (h *house) wrong(err, want error, field string) {
	h.Helper()
	var bad *chat.FieldError
	if !errors.As(err, &bad) || bad.Err != want || bad.Field != field {
		h.Errorf("got error %v, want %v of %s", err, want, field)
	}
}
