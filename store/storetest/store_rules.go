package storetest

import (
	"fmt"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/chat/rules"
)

func ruleTests() []storeTest {
	return []storeTest{
		{"a room has the rules that were stored last", keepRules},
		{"it is known when a member has joined", whenJoined},
		{"a text is held once, and answered once", holdText},
		{"few texts of a user and of a room are held, and old ones are dropped", holdFew},
		{"rules and held texts go with the room", rulesOfDeleted},
	}
}

func keepRules(b *storeBench) {
	room := b.create(b.newRoom(ann)).Room.ID
	for _, want := range []string{"", `[{"kind":"slow","seconds":1}]`, `[]`, ""} {
		var stored []byte
		if want != "" {
			stored = []byte(want)
		}
		b.must(b.SetRoomRules(b.ctx, room, stored))
		if got, err := b.RoomRules(b.ctx, room); err != nil || string(got) != want {
			b.Errorf("the rules are %q, %v, want %q", got, err, want)
		}
	}
	if got, err := b.RoomRules(b.ctx, "no\x00room"); err != nil || got != nil {
		b.Errorf("the rules of no room are %q, %v", got, err)
	}
}

func whenJoined(b *storeBench) {
	room := b.room(ann)
	b.now = b.now.Add(time.Minute)
	b.join(room, bob)
	joined := b.now
	b.join(room, cyn)
	b.leave(room, cyn)
	for user, want := range map[string]time.Time{bob: joined, cyn: {}, dan: {}} {
		if got, err := b.JoinedAt(b.ctx, room, user); err != nil || !got.Equal(want) {
			b.Errorf("%s joined at %v, %v, want %v", user, got, err, want)
		}
	}
}

func (b *storeBench) held(room, user, key string) chat.HeldText {
	return chat.HeldText{
		Room: room, ID: b.id("held"), From: person(user), At: b.now, Rule: rules.Words,
		Message: chat.Message{Room: room, Key: key, Text: "text of " + key, ReplyTo: 1, Mentions: []string{bob}, Files: []string{"f"}},
	}
}

func (b *storeBench) hold(h chat.HeldText) error {
	return b.HoldText(b.ctx, h, 4, 2, b.now.Add(-time.Hour))
}

// waiting returns the keys of the held texts of a room.
func (b *storeBench) waiting(room string) (keys []string) {
	b.Helper()
	all, err := b.HeldTexts(b.ctx, room, b.now.Add(-time.Hour), 10)
	b.must(err)
	for _, h := range all {
		keys = append(keys, h.Message.Key)
	}
	return keys
}

func holdText(b *storeBench) {
	room := b.create(b.newRoom(ann, bob)).Room.ID
	first := b.held(room, ann, "k1")
	b.must(b.hold(first))
	b.must(b.hold(b.held(room, ann, "k1")))
	all, err := b.HeldTexts(b.ctx, room, b.now, 10)
	b.must(err)
	if len(all) != 1 || fmt.Sprint(all[0]) != fmt.Sprint(first) {
		b.Fatalf("held are %+v, want %+v", all, first)
	}
	if got, err := b.AdmitHeld(b.ctx, room, first.ID); err != nil || fmt.Sprint(got) != fmt.Sprint(first) {
		b.Errorf("admitted %+v, %v, want %+v", got, err, first)
	}
	if dropped, err := b.DropHeld(b.ctx, room, first.ID, false); err != nil || dropped {
		b.Errorf("an admitted text is dropped as one that is refused: %v, %v", dropped, err)
	}
	if _, err := b.AdmitHeld(b.ctx, room, first.ID); err != nil {
		b.Errorf("an admitted text that was not sent: %v", err)
	}
	for _, want := range []bool{true, false} {
		if dropped, err := b.DropHeld(b.ctx, room, first.ID, true); err != nil || dropped != want {
			b.Errorf("dropped %v, %v, want %v", dropped, err, want)
		}
	}
	_, err = b.AdmitHeld(b.ctx, room, first.ID)
	b.refused(err, chat.ErrNotFound)
	_, err = b.AdmitHeld(b.ctx, room, "no\x00id")
	b.refused(err, chat.ErrNotFound)
}

func holdFew(b *storeBench) {
	room := b.create(b.newRoom(ann, bob, cyn)).Room.ID
	for _, h := range []struct{ user, key string }{{ann, "a1"}, {ann, "a2"}, {bob, "b1"}, {bob, "b2"}} {
		b.must(b.hold(b.held(room, h.user, h.key)))
	}
	b.refused(b.hold(b.held(room, ann, "a3")), chat.ErrLimitExceeded)
	b.refused(b.hold(b.held(room, cyn, "c1")), chat.ErrLimitExceeded)
	b.must(b.hold(b.held(room, ann, "a1"))) // it is held already
	if got := b.waiting(room); !slices.Equal(got, []string{"a1", "a2", "b1", "b2"}) {
		b.Errorf("%v wait", got)
	}
	b.now = b.now.Add(2 * time.Hour)
	if got := b.waiting(room); len(got) > 0 {
		b.Errorf("after two hours %v wait", got)
	}
	b.must(b.hold(b.held(room, cyn, "c1")))
	if got := b.waiting(room); !slices.Equal(got, []string{"c1"}) {
		b.Errorf("after two hours %v wait, want c1", got)
	}
}

func rulesOfDeleted(b *storeBench) {
	room := b.create(b.newRoom(ann)).Room.ID
	b.must(b.SetRoomRules(b.ctx, room, []byte(`[]`)))
	b.must(b.hold(b.held(room, ann, "k")))
	b.change(b.wanted(chat.DeleteRoom, room, ann))
	b.refused(b.hold(b.held(room, ann, "later")), chat.ErrNotFound)
	for range 3 { // members first, then files, then the rest
		_, _, err := b.books().DeletedRooms(b.ctx, "", 10)
		b.must(err)
	}
	if got, err := b.RoomRules(b.ctx, room); err != nil || got != nil || len(b.waiting(room)) > 0 {
		b.Errorf("a deleted room has the rules %q, %v, and %v wait", got, err, b.waiting(room))
	}
}
