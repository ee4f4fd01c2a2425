package storetest

import (
	"errors"
	"reflect"

	"hongbao/chat"
)

func roomTests() []storeTest {
	return []storeTest{
		{"epoch stays with the data", epochStays},
		{"a room is made with its owner and first members", roomIsMade},
		{"a repeated key gives the first room", roomTwice},
		{"a key stands for one request of all commands", keyOfAnotherCommand},
		{"an unknown member makes no room", unknownMember},
		{"a request to create a room with several faults names the first", createRoomFaults},
		{"no user is in more rooms than allowed", tooManyRooms},
		{"an unknown room", unknownRoom},
		{"a name is the newest token's, but an entry's is as it was", newestName},
	}
}

func epochStays(b *storeBench) {
	first, err := b.Epoch(b.ctx)
	b.must(err)
	again, err := b.Epoch(b.ctx)
	b.must(err)
	later, err := b.Reopen().Epoch(b.ctx)
	b.must(err)
	if first == "" || again != first || later != first {
		b.Errorf("epochs %q, then %q, and %q after reopening", first, again, later)
	}
}

func roomIsMade(b *storeBench) {
	r := b.newRoom(ann, bob, cyn)
	r.Kind = chat.Private
	got := b.create(r)
	want := chat.Room{ID: r.ID, Name: r.Name, Kind: chat.Private, Members: 3, CreatedAt: r.At}
	if got != (chat.Membership{Room: want, Role: chat.Owner}) {
		b.Errorf("made %+v, want the owner of %+v", got, want)
	}
	if m := b.membership(r.ID, bob); m != (chat.Membership{Room: want, Role: chat.Plain}) {
		b.Errorf("a first member sees %+v", m)
	}
	if room, err := b.Room(b.ctx, r.ID); err != nil || room != want {
		b.Errorf("the room is %+v, %v; want %+v", room, err, want)
	}
	if st := b.standing(r.ID, ann); st != (chat.Standing{Ever: true, In: true, Role: chat.Owner}) {
		b.Errorf("the owner stands as %+v", st)
	}
	if st := b.standing(r.ID, dan); st != (chat.Standing{}) {
		b.Errorf("a stranger stands as %+v", st)
	}
}

func roomTwice(b *storeBench) {
	r := b.newRoom(ann, bob)
	first := b.create(r)
	b.say(r.ID, bob)

	again := r
	again.ID, again.At = b.id("room"), b.tick()
	got, dup, err := b.CreateRoom(b.ctx, again)
	b.must(err)
	if !dup || got.Room.ID != first.Room.ID || got.Role != chat.Owner || got.Room.LastSeq != 1 || got.Unread != 1 {
		b.Errorf("the second try gives %+v, dup %v; want the first room as it is now", got, dup)
	}

	other := again
	other.Hash = []byte("other content")
	_, _, err = b.CreateRoom(b.ctx, other)
	b.refused(err, chat.ErrKeyReused)
	if _, err := b.Room(b.ctx, again.ID); !errors.Is(err, chat.ErrNotFound) {
		b.Errorf("a second room was made: %v", err)
	}

	b.leave(r.ID, ann)
	got, dup, err = b.CreateRoom(b.ctx, again)
	b.must(err)
	if !dup || got.Room.ID != first.Room.ID || got.Role != chat.NoRole {
		b.Errorf("the repetition by a former member returns %+v, dup %v; want the room without a role", got, dup)
	}
}

func keyOfAnotherCommand(b *storeBench) {
	room := b.room(ann, bob)
	d := b.draft(room, ann, "hello")
	if used, err := b.KeyUsed(b.ctx, ann, d.Key); err != nil || used {
		b.Errorf("a new key is used: %v, %v", used, err)
	}
	_, _, err := b.Append(b.ctx, d)
	b.must(err)
	if used, err := b.KeyUsed(b.ctx, ann, d.Key); err != nil || !used {
		b.Errorf("the key of an entry is not used: %v, %v", used, err)
	}
	if used, err := b.KeyUsed(b.ctx, bob, d.Key); err != nil || used {
		b.Errorf("another user's key is used: %v, %v", used, err)
	}
	r := b.newRoom(ann)
	r.Key = d.Key
	_, _, err = b.CreateRoom(b.ctx, r)
	b.refused(err, chat.ErrKeyReused)
	r.Owner = person(bob)
	if _, dup, err := b.CreateRoom(b.ctx, r); err != nil || dup {
		b.Errorf("another user's request under the same key: dup %v, %v", dup, err)
	}
}

func unknownMember(b *storeBench) {
	r := b.newRoom(ann, bob, "nobody")
	b.known(ann, bob)
	_, _, err := b.CreateRoom(b.ctx, r)
	b.refusedField(err, chat.ErrContactRefused, "members")
	if ms, err := b.Memberships(b.ctx, ann); err != nil || len(ms) != 0 {
		b.Errorf("half a room was made: %+v, %v", ms, err)
	}
	if used, err := b.KeyUsed(b.ctx, ann, r.Key); err != nil || used {
		b.Errorf("a refused request used its key: %v, %v", used, err)
	}
	b.known("nobody")
	_, dup, err := b.CreateRoom(b.ctx, r)
	if err != nil || dup {
		b.Errorf("the same request, now that all are known: dup %v, %v", dup, err)
	}
}

// createRoomFaults asks for a room with four faults together, and corrects them one by one. The refusals must name in this
// order: too many public rooms, an unknown member, a member that refuses contact, too many rooms.
func createRoomFaults(b *storeBench) {
	b.room(ann)
	b.room(bob, cyn)
	b.known(dan)
	b.must(b.SetContact(b.ctx, dan, chat.Nobody))
	r := b.newRoom(ann, cyn, dan, "nobody")
	r.MaxRooms, r.MaxPublic = 1, 1
	refused := func(want error, field string) {
		b.Helper()
		_, _, err := b.CreateRoom(b.ctx, r)
		if b.refused(err, want); field != "" {
			b.refusedField(err, want, field)
		}
	}
	refused(chat.ErrLimitExceeded, "kind")
	r.Kind = chat.Private
	refused(chat.ErrContactRefused, "members")
	r.Members = []string{cyn, dan}
	refused(chat.ErrContactRefused, "members")
	r.Members = []string{cyn}
	refused(chat.ErrLimitExceeded, "")
	r.MaxRooms = 2
	if _, dup, err := b.CreateRoom(b.ctx, r); err != nil || dup {
		b.Errorf("a room without a fault: dup %v, %v", dup, err)
	}
}

func tooManyRooms(b *storeBench) {
	const most = 2
	first, second := b.room(ann, bob), b.room(ann, bob)
	r := b.newRoom(ann)
	r.MaxRooms = most
	_, _, err := b.CreateRoom(b.ctx, r)
	b.refused(err, chat.ErrLimitExceeded)

	r = b.newRoom(cyn, bob)
	r.MaxRooms = most
	b.known(cyn)
	_, _, err = b.CreateRoom(b.ctx, r)
	b.refused(err, chat.ErrLimitExceeded) // for bob: bob has chosen none of these rooms

	third := b.joining(b.room(dan), bob)
	third.MaxRooms = most
	b.say(first, bob) // this chooses the room
	b.say(second, bob)
	_, _, err = b.Join(b.ctx, third)
	b.refused(err, chat.ErrLimitExceeded)

	b.leave(second, bob)
	if _, changed, err := b.Join(b.ctx, third); err != nil || !changed {
		b.Errorf("joining with room for one more: changed %v, %v", changed, err)
	}
}

func unknownRoom(b *storeBench) {
	b.known(ann)
	if st := b.standing("no-room", ann); st != (chat.Standing{}) {
		b.Errorf("standing %+v in no room", st)
	}
	_, err := b.Room(b.ctx, "no-room")
	b.refused(err, chat.ErrNotFound)
	_, _, err = b.Join(b.ctx, b.joining("no-room", ann))
	b.refused(err, chat.ErrNotFound)
	_, err = b.Leave(b.ctx, chat.Leaving{Room: "no-room", User: person(ann), At: b.now})
	b.refused(err, chat.ErrNotFound)
	_, _, err = b.Append(b.ctx, b.draft("no-room", ann, "hello"))
	b.refused(err, chat.ErrNotFound)
	_, err = b.Read(b.ctx, "no-room", ann, 1, b.now)
	b.refused(err, chat.ErrNotFound)
	_, err = b.Membership(b.ctx, "no-room", ann)
	b.refused(err, chat.ErrNotMember)
	if ms, err := b.Memberships(b.ctx, ann); err != nil || len(ms) != 0 {
		b.Errorf("a user without rooms is in %+v, %v", ms, err)
	}
	room := b.room(ann)
	b.say(room, ann)
	seqs, err := b.LastSeqs(b.ctx, []string{"no-room", room})
	b.must(err)
	if !reflect.DeepEqual(seqs, map[string]int64{room: 1}) {
		b.Errorf("last seqs %v, want only those of existing rooms", seqs)
	}
	if seqs, err := b.LastSeqs(b.ctx, nil); err != nil || len(seqs) != 0 {
		b.Errorf("last seqs of no rooms: %v, %v", seqs, err)
	}
}

func newestName(b *storeBench) {
	room := b.room(ann)
	before := b.say(room, ann)
	for _, u := range []chat.User{
		{ID: ann, Name: "Ann II", Avatar: before.From.Avatar}, {ID: ann, Name: "Ann II", Avatar: "new"}, {ID: ann},
	} {
		_, _, err := b.PutUser(b.ctx, chat.Profile{User: u}, 0)
		b.must(err)
		members, _, err := b.Members(b.ctx, room, "", 10)
		if b.must(err); len(members) != 1 || members[0].User != u {
			b.Errorf("members are %+v, want %+v", members, u)
		}
	}
	if es := b.history(room); len(es) != 1 || es[0].From != before.From {
		b.Errorf("the entry has changed to %+v", es)
	}
}
