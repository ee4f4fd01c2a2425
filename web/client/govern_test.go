package client_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"hongbao/web/client"
	"hongbao/web/client/model"
)

// TestRoomPrefs changes what the user has decided about a room on one device. The other device must have it, also after a reconnect.
func TestRoomPrefs(t *testing.T) {
	annID := unique(t, "ann")
	one, other := open(t, shared.addr, annID), open(t, shared.addr, annID)
	must[model.Account](t)(other.Ready(soon(t)))
	r := must[model.Room](t)(one.CreateRoom(soon(t), client.NewRoom{Name: "council", Kind: "public"}))
	await[model.Entered](t, other, nil)
	if err := one.SetRoomPrefs(soon(t), r.ID, client.RoomPrefs{Silent: new(true), Archived: new(true)}); err != nil {
		t.Fatal(err)
	}
	want := model.RoomPrefs{Room: r.ID, Silent: true, Archived: true}
	if e := await[model.RoomPrefs](t, other, nil); e != want {
		t.Errorf("%+v", e)
	}
	late := open(t, shared.addr, annID)
	must[model.Account](t)(late.Ready(soon(t)))
	for name, c := range map[string]*client.Client{"the other device": other, "a new device": late} {
		if got := c.Rooms()[0]; !got.Silent || got.Pinned || !got.Archived {
			t.Errorf("%s has %+v", name, got)
		}
	}
	if err := one.SetRoomPrefs(soon(t), "no-room", client.RoomPrefs{}); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("preferences of an unknown room: %v", err)
	}
}

func TestGovern(t *testing.T) {
	annID, bobID, eveID := unique(t, "ann"), unique(t, "bob"), unique(t, "eve")
	ann, bob, eve := open(t, shared.addr, annID), open(t, shared.addr, bobID), open(t, shared.addr, eveID)
	for _, c := range []*client.Client{bob, eve} {
		must[model.Account](t)(c.Ready(soon(t)))
	}
	r := must[model.Room](t)(ann.CreateRoom(soon(t), client.NewRoom{Name: "council", Kind: "private"}))
	good := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	member := func(user, change string) model.MemberChanged {
		t.Helper()
		return await(t, bob, func(e model.Entry) bool {
			b, ok := e.Body.(model.MemberChanged)
			return ok && b.User == user && b.Change == change
		}).Body.(model.MemberChanged)
	}
	good(ann.Invite(soon(t), r.ID, bobID, eveID))
	if e := await[model.Entered](t, bob, nil); e.Room.ID != r.ID || e.Room.Kind != "private" {
		t.Errorf("%+v", e)
	}
	member(eveID, "invited")
	if people := all(t, ann.Members(soon(t), r.ID)); len(people) != 3 || !people[0].Online {
		t.Errorf("%+v", people)
	}
	good(ann.SetRole(soon(t), r.ID, bobID, "admin"))
	if b := member(bobID, "role"); b.Role != "admin" || b.By != annID || bob.Rooms()[0].Role != "admin" {
		t.Errorf("%+v %+v", b, bob.Rooms())
	}
	good(bob.Mute(soon(t), r.ID, eveID, 90*time.Second))
	if b := member(eveID, "muted"); time.Until(b.Until) < time.Minute {
		t.Errorf("%+v", b)
	}
	if _, err := eve.Send(soon(t), client.Message{Room: r.ID, Text: "mute?"}); !errors.Is(err, client.ErrMuted) {
		t.Errorf("%v", err)
	}
	good(bob.Mute(soon(t), r.ID, eveID, 0))
	good(bob.Kick(soon(t), r.ID, eveID))
	await(t, eve, func(e model.Entry) bool { // this entry records that the user was removed
		b, ok := e.Body.(model.MemberChanged)
		return ok && b.User == eveID && b.Change == "kicked"
	})
	if left := await[model.Left](t, eve, nil); left.Reason != "kicked" {
		t.Errorf("%+v", left)
	}
	good(bob.Ban(soon(t), r.ID, eveID))
	if err := ann.Invite(soon(t), r.ID, eveID); !errors.Is(err, client.ErrBanned) {
		t.Errorf("%v", err)
	}
	good(bob.Unban(soon(t), r.ID, eveID))
	until := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	good(ann.Invite(soon(t), r.ID, eveID))
	good(bob.BanUntil(soon(t), r.ID, eveID, until, "spam"))
	await(t, ann, func(e model.Entry) bool {
		b, ok := e.Body.(model.MemberChanged)
		return ok && b.User == eveID && b.Change == "banned" && b.Until.Equal(until)
	})
	good(bob.Unban(soon(t), r.ID, eveID))
	name, announcement := "high council", "be kind"
	if now := must[model.Room](t)(bob.UpdateRoom(soon(t), r.ID, client.RoomUpdate{Name: &name, Announcement: &announcement})); now.Name != name {
		t.Errorf("%+v", now)
	}
	changed := await(t, ann, func(e model.Entry) bool { return e.Kind == "room" }).Body.(model.RoomChanged)
	if *changed.Name != name || *changed.Announcement != announcement || ann.Rooms()[0].Name != name {
		t.Errorf("%+v %+v", changed, ann.Rooms())
	}
	if r.Invite != "admins" || !r.Guests || !r.Packets {
		t.Errorf("the settings of a new private room: %+v", r)
	}
	set := client.RoomUpdate{Invite: "members", Guests: new(false), Packets: new(false)}
	if now := must[model.Room](t)(bob.UpdateRoom(soon(t), r.ID, set)); now.Invite != "members" || now.Guests || now.Packets {
		t.Errorf("%+v", now)
	}
	changed = await(t, ann, func(e model.Entry) bool { return e.Kind == "room" }).Body.(model.RoomChanged)
	if changed.Invite != "members" || *changed.Guests || *changed.Packets || ann.Rooms()[0].Invite != "members" || ann.Rooms()[0].Guests || ann.Rooms()[0].Packets {
		t.Errorf("%+v %+v", changed, ann.Rooms())
	}
	closed := client.NewRoom{Name: "closed", Kind: "public", Invite: "admins", Guests: new(false), Packets: new(false)}
	if made := must[model.Room](t)(ann.CreateRoom(soon(t), closed)); made.Invite != "admins" || made.Guests || made.Packets {
		t.Errorf("%+v", made)
	}
	good(ann.DeleteRoom(soon(t), r.ID))
	if left := await[model.Left](t, bob, nil); left.Reason != "deleted" {
		t.Errorf("%+v", left)
	}
	if err := ann.DeleteRoom(soon(t), r.ID); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("%v", err)
	}

	direct := must[model.Room](t)(ann.Direct(soon(t), bobID))
	if again := must[model.Room](t)(bob.Direct(soon(t), annID)); again.ID != direct.ID || again.Kind != "direct" {
		t.Errorf("%+v, then %+v", direct, again)
	}
	if e := await[model.Entered](t, bob, nil); e.Room.ID != direct.ID {
		t.Errorf("%+v", e)
	}
}

func TestAmend(t *testing.T) {
	ann, bob := open(t, shared.addr, unique(t, "ann")), open(t, shared.addr, unique(t, "bob"))
	id := room(t, ann, bob)
	first := must[client.Sent](t)(ann.Send(soon(t), client.Message{Room: id, Text: "helo"}))
	second := must[client.Sent](t)(ann.Send(soon(t), client.Message{
		Room: id, Data: json.RawMessage(`{"sticker":1}`), ReplyTo: first.Seq, Mentions: []string{bob.Me().ID},
	}))
	for _, err := range []error{
		ann.Edit(soon(t), id, first.Seq, "hello"),
		bob.React(soon(t), id, first.Seq, "👍", true),
		ann.Recall(soon(t), id, second.Seq),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	var got []model.Body
	for range 5 {
		got = append(got, await[model.Entry](t, bob, nil).Body)
	}
	if text := got[1].(model.Text); string(text.Data) != `{"sticker":1}` || text.ReplyTo != first.Seq || !slices.Equal(text.Mentions, []string{bob.Me().ID}) {
		t.Errorf("%+v", text)
	}
	if got[2] != (model.Edited{Target: first.Seq, Text: "hello"}) || got[3] != (model.Reacted{Target: first.Seq, Emoji: "👍", On: true, Count: 1}) || got[4] != (model.Recalled{Target: second.Seq}) {
		t.Errorf("%+v", got[2:])
	}
	page := must[client.Page](t)(bob.Before(soon(t), id, second.Seq+1, 0))
	if text := page.Entries[0].Body.(model.Text); text.Text != "hello" || text.EditedAt.IsZero() || text.Reactions["👍"] != 1 {
		t.Errorf("%+v", text)
	}
	if text := page.Entries[1].Body.(model.Text); !text.Recalled || text.Data != nil {
		t.Errorf("%+v", text)
	}
	if err := bob.Edit(soon(t), id, first.Seq, "mine"); !errors.Is(err, client.ErrForbidden) {
		t.Errorf("%v", err)
	}
}

// TestPresence checks the events for members that come online or go offline, and for typing.
func TestPresence(t *testing.T) {
	ann, bob := open(t, shared.addr, unique(t, "ann")), open(t, shared.addr, unique(t, "bob"))
	id := room(t, ann, bob)
	count, users, err := ann.Online(soon(t), id)
	for until := time.Now().Add(time.Minute); err == nil && count < 2 && time.Now().Before(until); <-time.After(10 * time.Millisecond) {
		count, users, err = ann.Online(soon(t), id)
	}
	if slices.Sort(users); err != nil || count != 2 || !slices.Equal(users, []string{ann.Me().ID, bob.Me().ID}) {
		t.Errorf("%d %q %v", count, users, err)
	}
	if err := bob.SayTyping(soon(t), id); err != nil {
		t.Error(err)
	}
	if e := await[model.Typing](t, ann, nil); e != (model.Typing{Room: id, User: bob.Me().ID}) {
		t.Errorf("%+v", e)
	}
	sendTexts(t, ann, id, 1, 1)
	must[int64](t)(bob.MarkRead(soon(t), id, 1))
	if e := await(t, ann, func(e model.Read) bool { return e.User == bob.Me().ID }); e.Seq != 1 || e.Room != id {
		t.Errorf("%+v", e)
	}
	_ = bob.Close()
	if e := await(t, ann, func(e model.Presence) bool { return !e.Online }); e.User != bob.Me().ID || e.Room != id {
		t.Errorf("%+v", e)
	}
	found := false
	for r, err := range ann.FindRooms(soon(t), t.Name()) {
		found = found || err == nil && r.ID == id
	}
	if !found {
		t.Error("the room is not found by its name")
	}
}
