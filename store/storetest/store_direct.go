package storetest

import (
	"slices"
	"sync"

	"hongbao/chat"
)

func directTests() []storeTest {
	return []storeTest{
		{"two people have one room of their own", directRoom},
		{"a user who left a direct room stays out until that user comes back", directBack},
		{"a direct room that the other user has left refuses texts, edits and reactions", directDeserted},
		{"users that a direct room cannot be opened with", directRefused},
		{"a direct room has no owner and no changes", directUngoverned},
		{"both ask for their room at once", directAtOnce},
	}
}

func (b *storeBench) pairing(asker, other string) chat.Pairing {
	return chat.Pairing{
		ID: b.id("direct"), User: person(asker), Other: other, At: b.tick(), EntryID: b.id("entry"), MaxRooms: 100,
	}
}

func (b *storeBench) direct(asker, other string) chat.Paired {
	b.Helper()
	p, err := b.Direct(b.ctx, b.pairing(asker, other))
	b.must(err)
	if m := b.membership(p.Membership.Room.ID, asker); p.Membership != m {
		b.Errorf("it returns %+v, which is %+v", p.Membership, m)
	}
	b.balanced()
	return p
}

func directRoom(b *storeBench) {
	b.known(bob, cyn)
	p := b.pairing(ann, bob) // ann is unknown so far
	made, err := b.Direct(b.ctx, p)
	b.must(err)
	want := chat.Membership{Room: chat.Room{ID: p.ID, Kind: chat.Direct, Members: 2, CreatedAt: p.At}, Role: chat.Plain}
	if made.Membership != want || !slices.Equal(sorted(made.Entered), []string{ann, bob}) || len(made.Entries) != 0 {
		b.Errorf("made %+v, want %+v", made, want)
	}
	for _, asker := range []string{ann, bob} {
		other := map[string]string{ann: bob, bob: ann}[asker]
		if again := b.direct(asker, other); again.Membership != want || len(again.Entered)+len(again.Entries) != 0 {
			b.Errorf("%s asks again: %+v", asker, again)
		}
		b.stands(p.ID, asker, plain)
	}
	if p := b.direct(ann, cyn); p.Membership.Room.ID == made.Membership.Room.ID {
		b.Error("another pair has the same room")
	}
	b.stands(p.ID, cyn, chat.Standing{})
	_, _, err = b.Join(b.ctx, b.joining(p.ID, cyn))
	b.refused(err, chat.ErrNotFound)
	if got := b.found("", 10); len(got) != 0 {
		b.Errorf("found %v", got)
	}
}

func directBack(b *storeBench) {
	b.known(bob)
	room := b.direct(ann, bob).Membership.Room.ID
	b.say(room, ann)
	if left := b.leave(room, bob); len(left.Entries) != 1 || left.NewOwner != "" {
		b.Errorf("left %+v", left)
	}
	_, _, err := b.Join(b.ctx, b.joining(room, bob))
	b.refused(err, chat.ErrForbidden)

	b.unchanged(room, func() {
		if p := b.direct(ann, bob); p.Membership.Room.ID != room || p.Membership.Room.Members != 1 || len(p.Entered)+len(p.Entries) != 0 {
			b.Errorf("ann asks for %+v", p)
		}
	})
	b.stands(room, bob, chat.Standing{Ever: true, Left: true})

	p := b.direct(bob, ann)
	if p.Membership.Room.ID != room || !slices.Equal(p.Entered, []string{bob}) || !slices.Equal(seqsOf(p.Entries), []int64{3}) {
		b.Fatalf("came back %+v", p)
	}
	b.told(p.Entries[0], bob, chat.MemberChange{User: bob, Change: "invited", By: bob})
	if m := p.Membership; m.ReadSeq != 2 || m.Unread != 0 || m.Role != chat.Plain || m.Room.Members != 2 {
		b.Errorf("back as %+v", m)
	}

	b.leave(room, ann)
	b.leave(room, bob)
	for i, asker := range []string{bob, ann} { // each call brings back only the asker
		p := b.direct(asker, map[string]string{ann: bob, bob: ann}[asker])
		if !slices.Equal(p.Entered, []string{asker}) || p.Membership.Room.Members != i+1 {
			b.Errorf("%s came back: %+v", asker, p)
		}
	}
	b.say(room, ann)
}

func directDeserted(b *storeBench) {
	b.known(bob)
	room := b.direct(ann, bob).Membership.Room.ID
	first := b.draft(room, ann, "first")
	_, _, err := b.Append(b.ctx, first)
	b.must(err)
	b.amend(b.reacting(room, ann, 1, "🎉", true), `{"target":1,"emoji":"🎉","on":true,"count":1}`)
	b.leave(room, bob)
	b.unchanged(room, func() {
		_, _, err := b.Append(b.ctx, b.draft(room, ann, "refused"))
		b.refused(err, chat.ErrContactRefused)
		if _, dup, err := b.Append(b.ctx, first); err != nil || !dup {
			b.Errorf("a text that was sent before: dup %v, %v", dup, err)
		}
	})
	b.unchanged(room, func() {
		for _, a := range []chat.Amendment{
			b.editing(room, ann, 1, "refused"), b.reacting(room, ann, 1, "👍", true), b.reacting(room, ann, 1, "🎉", false),
		} {
			_, err := b.Amend(b.ctx, a)
			b.refused(err, chat.ErrContactRefused)
		}
		b.idleAmend(b.editing(room, ann, 1, "first"), 1)
	})
	b.amend(b.amending(chat.KindRecall, room, ann, 1), `{"target":1}`)
	b.direct(bob, ann)
	b.say(room, ann)
}

func directRefused(b *storeBench) {
	_, err := b.Direct(b.ctx, b.pairing(ann, bob))
	b.refusedField(err, chat.ErrContactRefused, "user") // as one that refuses contact: nobody shall learn that bob is unknown
	b.known(bob)
	b.room(bob)
	crowded := func(asker, other string, rooms int) {
		b.Helper()
		p := b.pairing(asker, other)
		p.MaxRooms = 1
		_, err := b.Direct(b.ctx, p)
		b.refusedField(err, chat.ErrLimitExceeded, "user")
		if ms, err := b.Memberships(b.ctx, ann); err != nil || len(ms) != rooms {
			b.Errorf("half a room was made: %+v, %v", ms, err)
		}
		b.balanced()
	}
	b.known(ann)
	crowded(bob, ann, 0)
	room := b.direct(ann, bob).Membership.Room.ID
	p := b.pairing(bob, ann)
	p.MaxRooms = 1 // bob's two rooms exceed the limit, but bob does not enter this room: bob is in it already
	if done, err := b.Direct(b.ctx, p); err != nil || len(done.Entered) != 0 {
		b.Errorf("entered %+v, %v", done, err)
	}
	b.leave(room, ann)
	b.room(ann)
	crowded(ann, bob, 1)
}

func directUngoverned(b *storeBench) {
	b.known(bob, cyn)
	room := b.direct(ann, bob).Membership.Room.ID
	b.unchanged(room, func() {
		for _, kind := range []chat.ChangeKind{
			chat.Invite, chat.Kick, chat.Ban, chat.Unban, chat.SetRole, chat.Mute, chat.UpdateRoom, chat.DeleteRoom,
		} {
			c := b.wanted(kind, room, ann, cyn)
			c.Role, c.Until = chat.Admin, b.now
			_, err := b.Change(b.ctx, c)
			b.refused(err, chat.ErrForbidden)
		}
	})
}

func directAtOnce(b *storeBench) {
	const askers = 20
	b.known(ann, bob)
	asks := make([]chat.Pairing, askers)
	for i := range asks {
		if asks[i] = b.pairing(ann, bob); i%2 == 1 {
			asks[i] = b.pairing(bob, ann)
		}
	}
	var mu sync.Mutex
	made, rooms := 0, map[string]bool{}
	together(askers, func(i int) {
		p, err := b.Direct(b.ctx, asks[i])
		if err != nil || p.Membership.Room.Members != 2 || len(p.Entries) != 0 {
			b.Errorf("asked %+v, %v", p, err)
		}
		mu.Lock()
		defer mu.Unlock()
		rooms[p.Membership.Room.ID] = true
		if len(p.Entered) > 0 {
			made++
		}
	})
	if len(rooms) != 1 || made != 1 {
		b.Errorf("%d made the rooms %v, want one", made, rooms)
	}
	b.balanced()
}
