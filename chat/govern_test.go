package chat_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

// takeChanged returns the rooms and users that were passed to StandingChanged since the last call.
func (h *testService) takeChanged() [][2]string {
	h.published.mu.Lock()
	defer h.published.mu.Unlock()
	all := h.published.changed
	h.published.changed = nil
	return all
}

// bodies returns the room's entries as the user sees them, each as its kind and body.
func (h *testService) bodies(room, user string) (bodies []string) {
	h.Helper()
	entries, _, err := h.History(h.ctx, user, room, chat.Page{})
	h.must(err)
	for _, e := range entries {
		bodies = append(bodies, string(e.Kind)+" "+string(e.Body))
	}
	return bodies
}

func TestInviteTellsInOrder(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob")
	for _, u := range []string{"cyn", "dan"} {
		h.must(h.SignIn(h.ctx, person(u)))
		h.refused(h.standing(room, u).MayRead(), chat.ErrNotFound)
	}
	h.sendText(room, "ann", "k")
	h.published.take()
	h.takeChanged()
	h.must(h.Invite(h.ctx, person("ann"), room, []string{"cyn", "bob", "dan", "cyn"}))
	entered := h.published.take()
	m, ok := entered[0].Event.(chat.Entered)
	if !ok || m.Membership.Room.ID != room || m.Membership.Room.Members != 4 {
		t.Fatalf("published %+v", entered)
	}
	want := chat.Entered{Membership: chat.Membership{Room: m.Membership.Room, Role: chat.Plain, ReadSeq: 1}}
	want.Membership.Room.LastSeq = 1
	if all := []publication{
		{To: "cyn", Event: want}, {To: "dan", Event: want}, {To: room, Entry: 2}, {To: room, Entry: 3},
		{To: room, Event: chat.MembersCounted{Room: room, Count: 4}},
	}; !slices.Equal(entered, all) {
		t.Errorf("published\n  %+v\nwant\n  %+v", entered, all)
	}
	if got, want := h.takeChanged(), [][2]string{{room, "cyn"}, {room, "dan"}}; !slices.Equal(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
	if rooms, err := h.Rooms(h.ctx, "cyn"); err != nil || len(rooms) != 1 || rooms[0].ReadSeq != 1 || rooms[0].Unread != 0 {
		t.Errorf("cyn is in %+v, %v", rooms, err)
	}
	h.must(h.Invite(h.ctx, person("ann"), room, []string{"dan"}))
	h.wantPublished()
}

func TestKickTellsInOrder(t *testing.T) {
	for _, test := range []struct {
		remove func(h *testService, room string) error
		word   string
		after  chat.Standing
		back   error
	}{
		{func(h *testService, room string) error { return h.Kick(h.ctx, person("ann"), room, "bob") }, "kicked", chat.Standing{Ever: true}, nil},
		{func(h *testService, room string) error {
			return h.Ban(h.ctx, person("ann"), room, "bob", time.Time{}, "")
		}, "banned", chat.Standing{Ever: true, Banned: true}, chat.ErrBanned},
	} {
		h := newTestService(t, chat.Options{})
		room := h.room(chat.Public, "ann", "bob")
		h.standing(room, "bob")
		h.takeChanged()
		h.must(test.remove(h, room))
		h.wantPublished(
			publication{To: room, Entry: 1},
			publication{To: "bob", Event: chat.Exited{Room: room, Reason: test.word, Through: 1}},
			publication{To: room, Event: chat.MembersCounted{Room: room, Count: 1}},
		)
		if got, want := h.takeChanged(), [][2]string{{room, "bob"}}; !slices.Equal(got, want) {
			t.Errorf("moved %v, want %v", got, want)
		}
		if st := h.standing(room, "bob"); st != test.after {
			t.Errorf("%s: has %+v, want %+v", test.word, st, test.after)
		}
		h.must(test.remove(h, room))
		h.wantPublished()
		if bodies := h.bodies(room, "ann"); !slices.Equal(bodies, []string{`member {"user":"bob","change":"` + test.word + `","by":"ann"}`}) {
			t.Errorf("entries %q", bodies)
		}
		h.Stop() // no member count is published from here on
		_, err := h.Join(h.ctx, person("bob"), room)
		h.refused(err, test.back)
		h.published.take()
		h.takeChanged()
		h.must(h.Unban(h.ctx, person("ann"), room, "bob"))
		h.wantPublished()
		if got, want := h.takeChanged(), [][2]string{{room, "bob"}}; !slices.Equal(got, want) {
			t.Errorf("%s and unbanned: moved %v, want %v", test.word, got, want)
		}
		_, err = h.Join(h.ctx, person("bob"), room)
		h.must(err)
	}
}

// TestBanOfANonMember bans a user that is not in the room. Nothing may be published to that user.
func TestBanOfANonMember(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	h.must(h.SignIn(h.ctx, person("bob")))
	h.must(h.Ban(h.ctx, person("ann"), room, "bob", time.Time{}, ""))
	h.wantPublished(publication{To: room, Entry: 1})
	_, err := h.Join(h.ctx, person("bob"), room)
	h.refused(err, chat.ErrBanned)
}

func TestMute(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_123)
	h := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	room := h.room(chat.Public, "ann", "bob")
	h.standing(room, "bob")
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 60))
	h.wantPublished(publication{To: room, Entry: 1})
	_, err := h.Send(h.ctx, person("bob"), chat.Message{Room: room, Key: "k", Text: "hello"})
	h.refused(err, chat.ErrMuted)
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 60)) // a mute with the same end as the present one changes nothing
	h.wantPublished()
	now = now.Add(time.Minute)
	h.sendText(room, "bob", "k")
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 0)) // the mute has already ended by time, so this changes nothing
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 1<<62))
	if until := h.standing(room, "bob").MutedUntil.UnixMilli(); until > 1<<53-1 || until < 1<<53-1000 {
		t.Errorf("muted for ever is until %d", until)
	}
	h.must(h.Mute(h.ctx, person("ann"), room, "bob", 0))
	h.sendText(room, "bob", "k2")
	last := h.bodies(room, "ann")
	if want := `member {"user":"bob","change":"muted","by":"ann"}`; len(last) != 5 || last[3] != want {
		t.Errorf("entries %q, want the fourth to be %s", last, want)
	}
}

func TestUpdateRoom(t *testing.T) {
	h := newTestService(t, chat.Options{Limits: chat.Limits{NameChars: 4, AnnouncementChars: 4}})
	room := h.restarted(chat.Options{}).room(chat.Public, "ann")
	str := func(s string) *string { return &s }
	m, err := h.UpdateRoom(h.ctx, person("ann"), room, chat.RoomChange{Name: str(" 恭喜发财 "), Announcement: str("news")})
	h.must(err)
	if m.Room.ID != room || m.Room.Name != "恭喜发财" || m.Room.Announcement != "news" || m.Room.LastSeq != 1 || m.Role != chat.Owner {
		t.Errorf("updated %+v", m)
	}
	h.wantPublished(publication{To: room, Entry: 1})
	for _, same := range []chat.RoomChange{{}, {Name: str("")}, {Name: str("恭喜发财"), Announcement: str("news")}} {
		if again, err := h.UpdateRoom(h.ctx, person("ann"), room, same); err != nil || again != m {
			t.Errorf("nothing new: %+v, %v", again, err)
		}
	}
	h.wantPublished()
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
		{chat.RoomChange{Invite: "owner"}, "invite", chat.ErrBadRequest},
	} {
		_, err := h.UpdateRoom(h.ctx, person("ann"), room, bad.to)
		h.wrong(err, bad.want, bad.field)
	}
}

// TestGovernIsChecked sends requests with faulty fields. The fault must be returned to any user, also to one without
// rights.
func TestGovernIsChecked(t *testing.T) {
	h := newTestService(t, chat.Options{Limits: chat.Limits{InviteUsers: 2}})
	room := h.room(chat.Public, "ann", "bob")
	ann := person("ann")
	long := strings.Repeat("x", 65)
	h.wrong(h.Invite(h.ctx, ann, room, nil), chat.ErrBadRequest, "users")
	h.wrong(h.Invite(h.ctx, ann, room, []string{"bob", "bob", "bob"}), chat.ErrLimitExceeded, "users")
	h.wrong(h.Invite(h.ctx, ann, room, []string{"bob", long}), chat.ErrBadRequest, "users")
	h.wrong(h.Invite(h.ctx, ann, room, []string{"bob", "unknown"}), chat.ErrContactRefused, "users")
	h.wrong(h.Invite(h.ctx, ann, "", []string{"bob"}), chat.ErrBadRequest, "room")
	h.wrong(h.Ban(h.ctx, ann, room, "", time.Time{}, ""), chat.ErrBadRequest, "user")
	h.wrong(h.Ban(h.ctx, ann, room, "no id", time.Time{}, ""), chat.ErrBadRequest, "user")
	h.must(h.Kick(h.ctx, ann, room, "unknown"))
	h.wrong(h.Unban(h.ctx, ann, long, "bob"), chat.ErrBadRequest, "room")
	h.wrong(h.SetRole(h.ctx, ann, room, "bob", "king"), chat.ErrBadRequest, "role")
	h.wrong(h.SetRole(h.ctx, ann, room, "bob", ""), chat.ErrBadRequest, "role")
	h.wrong(h.SetRole(h.ctx, ann, room, "unknown", chat.Admin), chat.ErrNotFound, "user")
	h.wrong(h.Mute(h.ctx, ann, room, "bob", -1), chat.ErrBadRequest, "seconds")
	h.refused(h.Mute(h.ctx, ann, "no-room", "bob", 1), chat.ErrNotFound)
	h.refused(h.DeleteRoom(h.ctx, ann, "no-room"), chat.ErrNotFound)
	h.wantPublished()
}

// wrong fails the test unless err is the error want about this field.
func (h *testService) wrong(err, want error, field string) {
	h.Helper()
	var bad *chat.FieldError
	if !errors.As(err, &bad) || bad.Err != want || bad.Field != field {
		h.Errorf("got error %v, want %v of %s", err, want, field)
	}
}

// TestMembersInBulk adds and removes users without entries. Their own sockets and the other instances must be told.
func TestMembersInBulk(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	h.published.take()
	h.takeChanged()
	var users []string
	for i := range 450 { // three batches
		users = append(users, fmt.Sprintf("user-%03d", i))
	}
	done, err := h.AddMembers(h.ctx, room, append(users, "ann", users[0]), false)
	if err != nil || done.Changed != len(users) || done.Unchanged != 1 || len(done.Refused) > 0 {
		t.Errorf("added %+v, %v", done, err)
	}
	told := func(name string) (told []string) {
		for _, p := range h.published.take() {
			if p.Event == nil {
				t.Errorf("published the entry %+v", p)
			} else if p.Event.EventName() == name {
				told = append(told, p.To)
			}
		}
		slices.Sort(told)
		return told
	}
	if got := told("entered"); !slices.Equal(got, users) {
		t.Errorf("%d users were told that they are in the room, want %d", len(got), len(users))
	}
	if moved := h.takeChanged(); len(moved) != len(users) {
		t.Errorf("%d standings were announced, want %d", len(moved), len(users))
	}
	if !h.standing(room, users[449]).In {
		t.Error("the last user is not in the room")
	}
	done, err = h.RemoveMembers(h.ctx, room, append(users, "ann"), false)
	if err != nil || done.Changed != len(users) || len(done.Refused) != 1 {
		t.Errorf("removed %+v, %v", done, err)
	}
	if got := told("left"); !slices.Equal(got, users) {
		t.Errorf("%d users were told that they are out of the room, want %d", len(got), len(users))
	}
	if h.standing(room, users[0]).In {
		t.Error("the first user is still in the room")
	}
}

// TestBanEndsInTheCache caches a ban. After its end the same standing must count as ended.
func TestBanEndsInTheCache(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000).UTC()
	h := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	room := h.room(chat.Public, "ann", "bob")
	h.must(h.Ban(h.ctx, person("ann"), room, "bob", now.Add(30*time.Second), "spam"))
	h.refused(h.standing(room, "bob").MayRead(), chat.ErrBanned)
	before := h.store.standings.Load()
	now = now.Add(30 * time.Second)
	h.refused(h.standing(room, "bob").MayRead(), chat.ErrNotMember)
	if h.store.standings.Load() != before {
		t.Error("the standing was not cached: this test proves nothing")
	}
	if _, err := h.Join(h.ctx, person("bob"), room); err != nil {
		t.Error(err)
	}
	h.wrong(h.Ban(h.ctx, person("ann"), room, "bob", now, ""), chat.ErrBadRequest, "until")
}
