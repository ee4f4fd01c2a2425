package storetest

import (
	"reflect"
	"slices"

	"hongbao/chat"
)

func contactTests() []storeTest {
	return []storeTest{
		{"rooms that a user has not chosen do not use up the user's limit", unchosenRooms},
		{"writing into rooms of others makes no room for more of them", chosenByWriting},
		{"a user opens a direct room and thereby chooses it", unchosenDirect},
		{"a user opens a direct room that the other user has left and thereby chooses it", unchosenDeserted},
		{"a user owns a limited number of public rooms", ownedPublicRooms},
		{"a user who left a private room comes back alone", rejoining},
		{"users that cannot rejoin", rejoinRefused},
		{"contacts are kept", keptContacts},
		{"a block forbids both users to add the other one", blocking},
		{"blocking returns the direct room to leave", blockingInDirect},
		{"contact settings", contactSettings},
		{"a user that was put into a direct room is a stranger", strangers},
		{"users learn the names of users in their rooms", knownUsers},
	}
}

func unchosenRooms(b *storeBench) {
	b.known(bob)
	for range 3 {
		b.room(ann, bob)
	}
	b.change(b.wanted(chat.Invite, b.privateRoom(ann), ann, bob))
	b.direct(ann, bob)
	j := b.joining(b.room(ann), bob)
	j.MaxRooms = 1
	if _, changed, err := b.Join(b.ctx, j); err != nil || !changed {
		b.Errorf("bob joins a first room: changed %v, %v", changed, err)
	}
	j.Room = b.room(ann)
	_, _, err := b.Join(b.ctx, j)
	b.refused(err, chat.ErrLimitExceeded)
	c := b.wanted(chat.Invite, b.room(ann), ann, bob)
	c.MaxRooms = 5
	_, err = b.Change(b.ctx, c)
	b.refusedField(err, chat.ErrLimitExceeded, "users")
	c.MaxRooms = 6
	b.change(c)
}

// chosenByWriting puts bob into four rooms, and has bob write in each. With a MaxRooms of 2, nobody may then add bob to a
// fifth room: others may add a user only while the user is in fewer than 2 * MaxRooms rooms.
func chosenByWriting(b *storeBench) {
	const most = 2
	b.known(ann, bob)
	var rooms []string
	for range 2 * most {
		r := b.newRoom(ann, bob)
		r.Kind = chat.Private
		b.create(r)
		b.say(r.ID, bob)
		rooms = append(rooms, r.ID)
	}
	full := func() {
		b.Helper()
		r := b.newRoom(cyn, bob)
		r.MaxRooms = most
		b.known(cyn)
		_, _, err := b.CreateRoom(b.ctx, r)
		b.refused(err, chat.ErrLimitExceeded)
		p := b.pairing(cyn, bob)
		p.MaxRooms = most
		_, err = b.Direct(b.ctx, p)
		b.refusedField(err, chat.ErrLimitExceeded, "user")
		c := b.wanted(chat.Invite, b.privateRoom(ann), ann, bob)
		c.MaxRooms = most
		_, err = b.Change(b.ctx, c)
		b.refusedField(err, chat.ErrLimitExceeded, "users")
	}
	full()
	b.leave(rooms[0], bob)
	c := b.wanted(chat.Invite, b.privateRoom(ann), ann, bob)
	c.MaxRooms = most
	b.change(c)
	full()
	for _, room := range rooms[1:] {
		b.leave(room, bob)
	}
	own := b.newRoom(bob)
	own.MaxRooms = most
	b.create(own)
	j := b.joining(b.room(ann), bob)
	j.MaxRooms = most
	if _, changed, err := b.Join(b.ctx, j); err != nil || !changed {
		b.Errorf("bob joins a second room: changed %v, %v", changed, err)
	}
}

func unchosenDirect(b *storeBench) {
	b.known(bob)
	b.direct(ann, bob)
	r := b.newRoom(bob)
	r.MaxRooms = 1
	b.direct(bob, ann)
	_, _, err := b.CreateRoom(b.ctx, r)
	b.refused(err, chat.ErrLimitExceeded)
}

func unchosenDeserted(b *storeBench) {
	b.known(bob)
	room := b.direct(ann, bob).Membership.Room.ID
	b.leave(room, ann)
	if p := b.direct(bob, ann); len(p.Entered)+len(p.Entries) != 0 {
		b.Errorf("bob, who is in, asks: %+v", p)
	}
	if got, err := b.UnchosenDirect(b.ctx, bob); err != nil || len(got) != 0 {
		b.Errorf("bob has not chosen %v, %v", got, err)
	}
}

func ownedPublicRooms(b *storeBench) {
	limited := func(kind chat.RoomKind) chat.NewRoom {
		r := b.newRoom(ann)
		r.Kind, r.MaxPublic = kind, 1
		return r
	}
	b.known(ann)
	given := b.room(bob, ann) // ann has not chosen it
	c := b.wanted(chat.SetRole, given, bob, ann)
	c.Role = chat.Owner
	b.change(c)
	first := b.create(limited(chat.Public)).Room.ID
	_, _, err := b.CreateRoom(b.ctx, limited(chat.Public))
	b.refusedField(err, chat.ErrLimitExceeded, "kind")
	b.create(limited(chat.Private))
	b.leave(first, ann)
	b.create(limited(chat.Public))
}

func rejoining(b *storeBench) {
	room := b.privateRoom(ann, bob)
	b.idle(b.wanted(chat.Rejoin, room, bob, bob))
	b.leave(room, bob)
	seq := b.say(room, ann).Seq
	done := b.change(b.wanted(chat.Rejoin, room, bob, bob))
	b.moved(done, []string{bob}, []string{bob}, nil)
	b.told(done.Entries[0], bob, chat.MemberChange{User: bob, Change: "invited", By: bob})
	if m := b.membership(room, bob); m.ReadSeq != seq || m.Unread != 0 || m.Role != chat.Plain || m.Room.Members != 2 {
		b.Errorf("back as %+v", m)
	}
	b.leave(room, bob)
	b.leave(room, ann)
	if done := b.change(b.wanted(chat.Rejoin, room, bob, bob)); done.Role != chat.Owner {
		b.Errorf("back in an empty room as %+v", done)
	}
}

func rejoinRefused(b *storeBench) {
	room := b.privateRoom(ann, bob, cyn, dan)
	b.known("eve")
	b.change(b.wanted(chat.Kick, room, ann, bob))
	b.leave(room, cyn)
	b.change(b.wanted(chat.Ban, room, ann, cyn))
	b.leave(room, dan)
	full, crowded := b.wanted(chat.Rejoin, room, dan, dan), b.wanted(chat.Rejoin, room, dan, dan)
	full.MaxMembers = 1
	b.join(b.room(ann), dan)
	crowded.MaxRooms = 1
	direct := b.direct(ann, bob).Membership.Room.ID
	b.leave(direct, bob)
	for _, test := range []struct {
		change chat.Change
		want   error
	}{
		{b.wanted(chat.Rejoin, room, bob, bob), chat.ErrForbidden}, // was kicked
		{b.wanted(chat.Rejoin, room, cyn, cyn), chat.ErrBanned},
		{b.wanted(chat.Rejoin, room, "eve", "eve"), chat.ErrNotFound},
		{b.wanted(chat.Rejoin, direct, bob, bob), chat.ErrForbidden},
		{full, chat.ErrLimitExceeded},
		{crowded, chat.ErrLimitExceeded},
	} {
		b.unchanged(test.change.Room, func() {
			_, err := b.Change(b.ctx, test.change)
			b.refused(err, test.want)
		})
	}
}

func (b *storeBench) block(user, blocked string) (room string) {
	b.Helper()
	room, err := b.Block(b.ctx, chat.Blocking{User: user, Blocked: blocked, At: b.tick(), Most: 2})
	b.must(err)
	return room
}

func (b *storeBench) contacts(user string, want chat.Contacts) {
	b.Helper()
	if got, err := b.Contacts(b.ctx, user); err != nil || !reflect.DeepEqual(got, want) {
		b.Errorf("contacts of %s: %+v, %v; want %+v", user, got, err, want)
	}
}

func keptContacts(b *storeBench) {
	b.contacts(ann, chat.Contacts{Contact: chat.Everyone}) // ann is unknown
	b.must(b.SetContact(b.ctx, ann, chat.Shared))
	room := b.room(bob)
	b.join(room, ann)
	b.known("stranger") // by the server, and not by ann
	for _, user := range []string{"stranger", bob, bob} {
		if room := b.block(ann, user); room != "" {
			b.Errorf("there is no direct room, and Block returns %q", room)
		}
	}
	_, err := b.Block(b.ctx, chat.Blocking{User: ann, Blocked: cyn, At: b.tick(), Most: 2})
	b.refused(err, chat.ErrLimitExceeded)
	b.contacts(ann, chat.Contacts{Contact: chat.Shared, Blocked: []chat.User{person(bob), {ID: "stranger"}}})
	b.contacts(bob, chat.Contacts{Contact: chat.Everyone})
	b.leave(room, ann) // ann has known bob, and still sees which user she has blocked
	b.contacts(ann, chat.Contacts{Contact: chat.Shared, Blocked: []chat.User{person(bob), {ID: "stranger"}}})
	met := b.room("stranger")
	b.join(met, ann)
	b.contacts(ann, chat.Contacts{Contact: chat.Shared, Blocked: []chat.User{person(bob), person("stranger")}})
	b.leave(met, ann)
	b.known(ann) // a new name changes nothing else
	b.must(b.Unblock(b.ctx, ann, bob))
	b.must(b.Unblock(b.ctx, ann, cyn))
	b.contacts(ann, chat.Contacts{Contact: chat.Shared, Blocked: []chat.User{{ID: "stranger"}}})

	b.block(cyn, bob)
	b.block(bob, cyn)
	if got, err := b.Blockers(b.ctx, bob, []string{ann, cyn, dan}); err != nil || !slices.Equal(got, []string{cyn}) {
		b.Errorf("blockers of bob: %v, %v", got, err)
	}
	b.Store = b.Reopen()
	b.contacts(bob, chat.Contacts{Contact: chat.Everyone, Blocked: []chat.User{{ID: cyn}}})
}

// contactRefused tries to put user into a room as the user by: with a direct room, a new room and an invitation. All three
// must be refused.
func (b *storeBench) contactRefused(by, user string) {
	b.Helper()
	b.known(by, user)
	_, err := b.Direct(b.ctx, b.pairing(by, user))
	b.refusedField(err, chat.ErrContactRefused, "user")
	_, _, err = b.CreateRoom(b.ctx, b.newRoom(by, user))
	b.refusedField(err, chat.ErrContactRefused, "members")
	room := b.privateRoom(by)
	b.unchanged(room, func() {
		_, err := b.Change(b.ctx, b.wanted(chat.Invite, room, by, user))
		b.refusedField(err, chat.ErrContactRefused, "users")
	})
}

func blocking(b *storeBench) {
	b.block(ann, bob)
	b.contactRefused(bob, ann)
	b.contactRefused(ann, bob)
	b.room(cyn, ann, bob) // another user may put both into one room
	b.must(b.Unblock(b.ctx, ann, bob))
	b.direct(bob, ann)
}

func blockingInDirect(b *storeBench) {
	b.known(ann, bob)
	room := b.direct(bob, ann).Membership.Room.ID
	if got := b.block(ann, bob); got != room {
		b.Errorf("Block returns %q, want %q", got, room)
	}
	b.leave(room, ann)
	if got := b.block(ann, bob); got != "" {
		b.Errorf("Block after leaving returns %q", got)
	}
	b.unchanged(room, func() {
		_, err := b.Direct(b.ctx, b.pairing(ann, bob))
		b.refusedField(err, chat.ErrContactRefused, "user")
		if p := b.direct(bob, ann); len(p.Entered) != 0 {
			b.Errorf("bob, who is in, asks: %+v", p)
		}
		_, _, err = b.Append(b.ctx, b.draft(room, bob, "to a user that has blocked bob"))
		b.refused(err, chat.ErrContactRefused)
	})
	b.leave(room, bob)
	_, err := b.Direct(b.ctx, b.pairing(bob, ann))
	b.refusedField(err, chat.ErrContactRefused, "user")
}

func strangers(b *storeBench) {
	want := func(room, viewer string, want ...string) {
		b.Helper()
		if got, err := b.Strangers(b.ctx, room, viewer); err != nil || !slices.Equal(got, want) {
			b.Errorf("strangers to %s: %v, %v; want %v", viewer, got, err, want)
		}
	}
	b.known(bob)
	room := b.direct(ann, bob).Membership.Room.ID
	want(room, ann, bob)
	want(room, bob)
	if got, err := b.UnchosenDirect(b.ctx, bob); err != nil || !slices.Equal(got, []string{room}) {
		b.Errorf("bob has not chosen %v, %v", got, err)
	}
	group := b.room(cyn, ann, bob)
	want(group, ann)
	want(room, ann) // they share the group
	b.leave(group, bob)
	want(room, ann, bob)
	b.say(room, bob)
	want(room, ann)
	for _, user := range []string{ann, bob} {
		if got, err := b.UnchosenDirect(b.ctx, user); err != nil || len(got) != 0 {
			b.Errorf("%s has not chosen %v, %v", user, got, err)
		}
	}
}

func contactSettings(b *storeBench) {
	b.must(b.SetContact(b.ctx, ann, chat.Nobody))
	b.contactRefused(bob, ann)
	b.must(b.SetContact(b.ctx, ann, chat.Shared))
	b.contactRefused(bob, ann)
	room := b.room(ann)
	b.join(room, bob)
	b.direct(bob, ann)
	b.leave(room, ann) // their direct room still counts as a shared room
	b.room(bob, ann)
	b.must(b.SetContact(b.ctx, ann, chat.Nobody))
	_, _, err := b.CreateRoom(b.ctx, b.newRoom(bob, ann))
	b.refusedField(err, chat.ErrContactRefused, "members")
	b.direct(ann, bob) // both are in: nothing changes
	b.must(b.SetContact(b.ctx, ann, chat.Everyone))
	b.room(dan, ann)
}

// knownUsers asks for the names of users as ann. ann must learn only the names of ann and of users in common rooms. A direct
// room counts once the other user has chosen it.
func knownUsers(b *storeBench) {
	want := func(users ...string) {
		b.Helper()
		var named []chat.User
		for _, user := range users {
			named = append(named, person(user))
		}
		got, err := b.Known(b.ctx, ann, []string{dan, bob, ann, cyn, bob, "nobody"})
		if err != nil || !slices.Equal(got, named) {
			b.Errorf("ann knows %+v, %v; want %v", got, err, users)
		}
	}
	want() // ann has never been seen
	b.known(ann, bob, cyn, dan)
	want(ann)
	direct := b.direct(ann, bob).Membership.Room.ID
	want(ann) // bob was only added to the direct room, and has sent nothing into it
	b.say(direct, bob)
	want(ann, bob)
	group := b.room(cyn, ann, dan)
	want(ann, bob, cyn, dan)
	b.leave(group, dan)
	b.leave(direct, ann)
	want(ann, cyn)
	b.change(b.wanted(chat.Ban, group, cyn, ann))
	want(ann)
	b.change(b.wanted(chat.Ban, b.room(ann), ann, dan)) // dan was never in it
	want(ann)
}
