package storetest

import (
	"encoding/json"
	"errors"
	"time"

	"hongbao/chat"
)

func joinTests() []storeTest {
	return []storeTest{
		{"joining", joining},
		{"joining twice changes nothing", joinTwice},
		{"a private room wants an invitation", joinPrivate},
		{"a banned user cannot join", joinBanned},
		{"a room holds no more than it may", joinFull},
		{"a user who joins an empty room owns it", joinEmpty},
		{"a mute outlives leaving", muteOutlivesLeaving},
		{"members are counted right when many come and go at once", countingCrowd},
	}
}

func joining(b *storeBench) {
	room := b.room(ann)
	b.say(room, ann)
	m := b.join(room, bob) // the user was unknown so far
	if m.Role != chat.Plain || m.Room.Members != 2 || m.ReadSeq != 1 || m.Unread != 0 {
		b.Errorf("joined as %+v, want earlier entries to count as read", m)
	}
	if m != b.membership(room, bob) {
		b.Errorf("joined as %+v, but is in as %+v", m, b.membership(room, bob))
	}
	if st := b.standing(room, bob); st != (chat.Standing{Ever: true, In: true, Role: chat.Plain}) {
		b.Errorf("stands as %+v", st)
	}
	if es := b.history(room); len(es) != 1 {
		b.Errorf("joining a public room made an entry: %+v", es)
	}
	members, _, err := b.Members(b.ctx, room, "", 10)
	if b.must(err); len(members) != 2 || members[1].User.ID != bob {
		b.Errorf("members are %+v", members)
	}
}

func joinTwice(b *storeBench) {
	room := b.room(ann)
	b.join(room, bob)
	b.say(room, ann)
	j := b.joining(room, bob)
	j.MaxRooms, j.MaxMembers = 1, 2 // both limits are reached, but do not matter: the user is in the room already
	m, changed, err := b.Join(b.ctx, j)
	b.must(err)
	if changed || m.Room.Members != 2 || m.Unread != 1 || m.Role != chat.Plain {
		b.Errorf("changed %v, %+v", changed, m)
	}
	if m, changed, err := b.Join(b.ctx, b.joining(room, ann)); err != nil || changed || m.Role != chat.Owner {
		b.Errorf("the owner joins: changed %v, %+v, %v", changed, m, err)
	}
	b.leave(room, bob)
	b.say(room, ann)
	if m := b.join(room, bob); m.Room.Members != 2 || m.Unread != 0 {
		b.Errorf("back again as %+v", m)
	}
}

func joinPrivate(b *storeBench) {
	room := b.privateRoom(ann, bob)
	_, _, err := b.Join(b.ctx, b.joining(room, cyn))
	b.refused(err, chat.ErrNotFound)
	b.leave(room, bob)
	_, _, err = b.Join(b.ctx, b.joining(room, bob))
	b.refused(err, chat.ErrForbidden) // a user that has left comes back by a Rejoin
	if m, changed, err := b.Join(b.ctx, b.joining(room, ann)); err != nil || changed || m.Role != chat.Owner {
		b.Errorf("join by a member: changed %v, %+v, %v", changed, m, err)
	}
}

func joinBanned(b *storeBench) {
	room := b.room(ann, bob, cyn)
	b.Stand(room, bob, chat.Standing{Ever: true, Banned: true})
	if st := b.standing(room, bob); st != (chat.Standing{Ever: true, Banned: true}) {
		b.Errorf("stands as %+v", st)
	}
	_, _, err := b.Join(b.ctx, b.joining(room, bob))
	b.refused(err, chat.ErrBanned)
	b.Stand(room, cyn, chat.Standing{Ever: true}) // kicked
	b.join(room, cyn)
}

func joinFull(b *storeBench) {
	room := b.room(ann, bob)
	j := b.joining(room, cyn)
	j.MaxMembers = 2
	_, _, err := b.Join(b.ctx, j)
	b.refused(err, chat.ErrLimitExceeded)
	if st := b.standing(room, cyn); st.Ever {
		b.Errorf("a refused user has the standing %+v", st)
	}
	b.leave(room, bob)
	if _, changed, err := b.Join(b.ctx, j); err != nil || !changed {
		b.Errorf("when one has left: changed %v, %v", changed, err)
	}
}

func joinEmpty(b *storeBench) {
	room := b.room(ann)
	if left := b.leave(room, ann); left.Room.Members != 0 || len(left.Entries) != 0 || left.NewOwner != "" {
		b.Errorf("the last one left: %+v", left)
	}
	if m := b.join(room, bob); m.Role != chat.Owner || m.Room.Members != 1 {
		b.Errorf("the first to come is %+v", m)
	}
	if m := b.join(room, ann); m.Role != chat.Plain {
		b.Errorf("the former owner is %+v", m)
	}
}

func muteOutlivesLeaving(b *storeBench) {
	room := b.room(ann, bob)
	until := b.now.Add(time.Hour)
	b.Stand(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Plain, MutedUntil: until})
	b.leave(room, bob)
	b.join(room, bob)
	if st := b.standing(room, bob); !st.MutedUntil.Equal(until) {
		b.Errorf("is back as %+v, want muted until %v", st, until)
	}
}

func countingCrowd(b *storeBench) {
	room := b.room(ann)
	together(40, func(i int) {
		u := member(i)
		// All wait for the same row, so a call may run out of time, with an unknown outcome. It is made again, for a minute at most.
		until := time.Now().Add(time.Minute)
		_, changed, err := b.Join(b.ctx, chat.Joining{Room: room, User: u, At: b.now, MaxRooms: 10, MaxMembers: 100})
		for errors.Is(err, chat.ErrUnavailable) && time.Now().Before(until) {
			_, _, err = b.Join(b.ctx, chat.Joining{Room: room, User: u, At: b.now, MaxRooms: 10, MaxMembers: 100})
			changed = b.standing(room, u).In
		}
		if err != nil || !changed {
			b.Errorf("join: changed %v, %v", changed, err)
		}
		if i%2 == 0 {
			left, err := b.Leave(b.ctx, chat.Leaving{Room: room, User: person(u), At: b.now})
			for errors.Is(err, chat.ErrUnavailable) && time.Now().Before(until) {
				_, err = b.Leave(b.ctx, chat.Leaving{Room: room, User: person(u), At: b.now})
				left.Changed = !b.standing(room, u).In
			}
			if err != nil || !left.Changed {
				b.Errorf("leave: %+v, %v", left, err)
			}
		}
	})
	r, err := b.Room(b.ctx, room)
	b.must(err)
	members, _, err := b.Members(b.ctx, room, "", 100)
	b.must(err)
	if r.Members != 21 || len(members) != 21 {
		b.Errorf("%d members counted, %d listed, want 21", r.Members, len(members))
	}
}

func leaveTests() []storeTest {
	return []storeTest{
		{"leaving a public room makes no entry", leavePublic},
		{"leaving twice changes nothing", leaveTwice},
		{"leaving a private room makes an entry", leavePrivate},
		{"the owner's heir is the longest-standing admin", heirAdmin},
		{"without admins it is the longest-standing member", heirMember},
		{"the owner of a private room leaves", leavePrivateOwner},
	}
}

func leavePublic(b *storeBench) {
	room := b.room(ann, bob)
	left := b.leave(room, bob)
	if !left.Changed || left.Room.ID != room || left.Room.Members != 1 || len(left.Entries) != 0 || left.NewOwner != "" {
		b.Errorf("left %+v", left)
	}
	if st := b.standing(room, bob); st != (chat.Standing{Ever: true, Left: true}) {
		b.Errorf("the standing is %+v, want the room to stay known to the user", st)
	}
	_, err := b.Membership(b.ctx, room, bob)
	b.refused(err, chat.ErrNotMember)
}

func leaveTwice(b *storeBench) {
	room := b.privateRoom(ann, bob)
	b.leave(room, bob)
	if left := b.leave(room, bob); left.Changed || len(left.Entries) != 0 || left.Room.Members != 1 {
		b.Errorf("left again: %+v", left)
	}
	if es := b.history(room); len(es) != 1 {
		b.Errorf("entries %+v, want one", es)
	}
	_, err := b.Leave(b.ctx, chat.Leaving{Room: room, User: person(cyn), At: b.now})
	b.refused(err, chat.ErrNotFound)
}

// told fails the test unless the entry, as returned and as read again, contains this change by this user.
func (b *storeBench) told(e chat.Entry, by string, want chat.MemberChange) {
	b.Helper()
	var got chat.MemberChange
	b.must(json.Unmarshal(e.Body, &got))
	if e.Kind != chat.KindMember || e.From != person(by) || e.ID == "" || got != want {
		b.Errorf("entry %+v with %+v, want %+v from %s", e, got, want, by)
	}
	if kept := b.history(e.Room)[e.Seq-1]; kept.ID != e.ID || string(kept.Body) != string(e.Body) || !kept.At.Equal(e.At) {
		b.Errorf("stored %+v, returned %+v", kept, e)
	}
}

func leavePrivate(b *storeBench) {
	room := b.privateRoom(ann, bob)
	b.say(room, ann)
	left := b.leave(room, bob)
	if len(left.Entries) != 1 || left.Entries[0].Seq != 2 || left.Room.LastSeq != 2 {
		b.Fatalf("left %+v", left)
	}
	b.told(left.Entries[0], bob, chat.MemberChange{User: bob, Change: "left_private", By: bob})
	if m := b.membership(room, ann); m.Unread != 0 {
		b.Errorf("a member entry counts as unread: %+v", m)
	}
}

func heirAdmin(b *storeBench) {
	room := b.room(ann)
	for _, u := range []string{bob, cyn, dan} {
		b.join(room, u)
	}
	b.Stand(room, cyn, chat.Standing{Ever: true, In: true, Role: chat.Admin, MutedUntil: b.now.Add(time.Hour)})
	b.Stand(room, dan, chat.Standing{Ever: true, In: true, Role: chat.Admin})
	left := b.leave(room, ann)
	if left.NewOwner != cyn || len(left.Entries) != 1 {
		b.Fatalf("left %+v, want %s as the heir", left, cyn)
	}
	b.told(left.Entries[0], ann, chat.MemberChange{User: cyn, Change: "role", By: ann, Role: chat.Owner})
	if st := b.standing(room, cyn); st != (chat.Standing{Ever: true, In: true, Role: chat.Owner}) {
		b.Errorf("the heir stands as %+v, want the owner, not muted", st)
	}
	if m := b.join(room, ann); m.Role != chat.Plain {
		b.Errorf("the former owner comes back as %+v", m)
	}
}

func heirMember(b *storeBench) {
	room := b.room(ann)
	for _, u := range []string{dan, cyn, bob} {
		b.join(room, u)
	}
	b.leave(room, dan)
	b.join(room, dan) // is the newest member now
	if left := b.leave(room, ann); left.NewOwner != cyn {
		b.Errorf("the new owner is %q, want %s", left.NewOwner, cyn)
	}
	if left := b.leave(room, cyn); left.NewOwner != bob {
		b.Errorf("the next new owner is %q, want %s", left.NewOwner, bob)
	}
}

func leavePrivateOwner(b *storeBench) {
	room := b.privateRoom(ann, bob)
	left := b.leave(room, ann)
	if len(left.Entries) != 2 || left.Entries[0].ID == left.Entries[1].ID {
		b.Fatalf("left %+v", left)
	}
	b.told(left.Entries[0], ann, chat.MemberChange{User: ann, Change: "left_private", By: ann})
	b.told(left.Entries[1], ann, chat.MemberChange{User: bob, Change: "role", By: ann, Role: chat.Owner})
}
