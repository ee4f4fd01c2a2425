package storetest

import (
	"errors"
	"time"

	"hongbao/chat"
)

func governTests() []storeTest {
	return []storeTest{
		{"roles", roles},
		{"to stand otherwise is not to come in anew", standingKept},
		{"a room is handed over", handOver},
		{"a mute", mute},
		{"a room's name and announcement", updateRoom},
		{"a room's settings", roomSettings},
		{"a refused change changes nothing", forbiddenChange},
	}
}

func (b *storeBench) giving(role chat.Role, room, by string, users ...string) chat.Change {
	c := b.wanted(chat.SetRole, room, by, users...)
	c.Role = role
	return c
}

func roles(b *storeBench) {
	room := b.room(ann, bob, cyn)
	done := b.change(b.giving(chat.Admin, room, ann, bob))
	b.moved(done, []string{bob}, nil, nil)
	if len(done.Entries) != 1 || done.Role != chat.Owner {
		b.Fatalf("gave %+v", done)
	}
	b.told(done.Entries[0], ann, chat.MemberChange{User: bob, Change: "role", By: ann, Role: chat.Admin})
	if st := b.standing(room, bob); st.Role != chat.Admin || !st.In {
		b.Errorf("stands as %+v", st)
	}
	b.idle(b.giving(chat.Admin, room, ann, bob))
	b.unchanged(room, func() {
		_, err := b.Change(b.ctx, b.giving(chat.Admin, room, bob, cyn))
		b.refused(err, chat.ErrForbidden)
		_, err = b.Change(b.ctx, b.giving(chat.Admin, room, ann, dan))
		b.refusedField(err, chat.ErrNotFound, "user")
		_, err = b.Change(b.ctx, b.giving(chat.Plain, room, ann, ann))
		b.refusedField(err, chat.ErrBadRequest, "user")
	})
	b.change(b.wanted(chat.Kick, room, bob, cyn)) // an admin may kick a member
	b.change(b.giving(chat.Plain, room, ann, bob))
	b.stands(room, bob, plain)
}

func standingKept(b *storeBench) {
	room := b.room(ann, bob, cyn)
	b.say(room, ann)
	b.change(b.giving(chat.Admin, room, ann, bob))
	muting := b.wanted(chat.Mute, room, ann, bob)
	muting.Until = b.now.Add(time.Hour)
	b.change(muting)
	b.change(b.giving(chat.Plain, room, ann, bob))
	if m := b.membership(room, bob); m.ReadSeq != 0 || m.Unread != 1 {
		b.Errorf("the member has read %d, and %d are unread; want read_seq unchanged", m.ReadSeq, m.Unread)
	}
	if people := b.people(room); people[1].User.ID != bob || people[2].User.ID != cyn {
		b.Errorf("the position in the list of members has changed: %+v", people)
	}
}

func handOver(b *storeBench) {
	room := b.room(ann, bob)
	b.Stand(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Plain, MutedUntil: b.now.Add(time.Hour)}) // ownership ends the mute
	done := b.change(b.giving(chat.Owner, room, ann, bob))
	b.moved(done, []string{ann, bob}, nil, nil)
	if len(done.Entries) != 2 || done.Role != chat.Admin {
		b.Fatalf("handed over %+v", done)
	}
	b.told(done.Entries[0], ann, chat.MemberChange{User: bob, Change: "role", By: ann, Role: chat.Owner})
	b.told(done.Entries[1], ann, chat.MemberChange{User: ann, Change: "role", By: ann, Role: chat.Admin})
	b.stands(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Owner})
	b.stands(room, ann, chat.Standing{Ever: true, In: true, Role: chat.Admin})
	if left := b.leave(room, ann); left.NewOwner != "" {
		b.Errorf("a former owner who leaves has a successor: %+v", left)
	}
}

func mute(b *storeBench) {
	room := b.room(ann, bob, cyn)
	muting := func(user string, until time.Time) chat.Change {
		c := b.wanted(chat.Mute, room, ann, user)
		c.Until = until
		return c
	}
	until := b.now.Add(time.Hour)
	done := b.change(muting(bob, until))
	b.moved(done, []string{bob}, nil, nil)
	if len(done.Entries) != 1 {
		b.Fatalf("muted %+v", done)
	}
	b.told(done.Entries[0], ann, chat.MemberChange{User: bob, Change: "muted", By: ann, Until: until.UnixMilli()})
	muted := plain
	muted.MutedUntil = until
	b.stands(room, bob, muted)
	_, _, err := b.Append(b.ctx, b.draft(room, bob, "hm"))
	b.refused(err, chat.ErrMuted)

	done = b.change(muting(bob, time.Time{}))
	if len(done.Entries) != 1 {
		b.Fatalf("lifted %+v", done)
	}
	b.told(done.Entries[0], ann, chat.MemberChange{User: bob, Change: "muted", By: ann})
	b.stands(room, bob, plain)
	b.idle(muting(bob, time.Time{}))

	b.leave(room, cyn)
	b.change(muting(cyn, until)) // a former member returns muted
	b.stands(room, cyn, chat.Standing{Ever: true, Left: true, MutedUntil: until})
	b.join(room, cyn)
	b.stands(room, cyn, muted)
	b.known(dan)
	b.unchanged(room, func() {
		_, err := b.Change(b.ctx, muting(dan, until))
		b.refusedField(err, chat.ErrNotFound, "user")
	})
}

func updateRoom(b *storeBench) {
	room := b.room(ann, bob)
	to := func(name, announcement *string) chat.Change {
		c := b.wanted(chat.UpdateRoom, room, ann)
		c.To = chat.RoomChange{Name: name, Announcement: announcement}
		return c
	}
	name, old, text, none := "恭喜 \"& <b>", b.membership(room, ann).Room.Name, "be nice\n", ""
	for _, step := range []struct {
		c    chat.Change
		want string
	}{
		{to(&name, nil), `{"name":"恭喜 \"& <b>"}`},
		{to(&name, &text), `{"announcement":"be nice\n"}`},
		{to(&old, &none), `{"name":"` + old + `","announcement":""}`},
	} {
		done := b.change(step.c)
		b.moved(done, nil, nil, nil)
		if len(done.Entries) != 1 || done.Entries[0].Kind != chat.KindRoom || string(done.Entries[0].Body) != step.want {
			b.Errorf("made the entries %+v, want %s", done.Entries, step.want)
		}
		if n, a := step.c.To.Name, step.c.To.Announcement; done.Room.Name != *n || a != nil && done.Room.Announcement != *a {
			b.Errorf("the room is %+v", done.Room)
		}
		if m := b.membership(room, bob); m.Room != done.Room || m.Unread != 0 {
			b.Errorf("a member sees %+v, want %+v", m, done.Room)
		}
		b.idle(step.c)
	}
	b.idle(to(nil, nil))
	b.change(to(&name, nil))
	if got := b.found("恭喜", 10); len(got) != 1 || got[0] != room {
		b.Errorf("by its new name %v is found", got)
	}
}

// setting returns a change of a room's settings by ann.
func (b *storeBench) setting(room string, invite chat.Inviters, guests *bool) chat.Change {
	c := b.wanted(chat.UpdateRoom, room, ann)
	c.To = chat.RoomChange{Invite: invite, Guests: guests}
	return c
}

func roomSettings(b *storeBench) {
	r := b.newRoom(ann, bob)
	r.Kind, r.Invite, r.NoGuests, r.NoPackets = chat.Private, chat.MembersInvite, true, true
	for _, made := range []struct {
		room   chat.Room
		invite chat.Inviters
		closed bool
	}{
		{b.create(b.newRoom(ann, bob)).Room, "", false},
		{b.create(r).Room, chat.MembersInvite, true},
	} {
		if made.room.Invite != made.invite || made.room.NoGuests != made.closed || made.room.NoPackets != made.closed {
			b.Errorf("made %+v, want invite %q, no guests and packets %v", made.room, made.invite, made.closed)
		}
	}
	room := b.room(ann, bob)
	for _, step := range []struct {
		c      chat.Change
		want   string
		invite chat.Inviters
		closed bool
	}{
		{b.setting(room, chat.AdminsInvite, nil), `{"invite":"admins"}`, chat.AdminsInvite, false},
		{b.setting(room, chat.AdminsInvite, new(false)), `{"guests":false}`, chat.AdminsInvite, true},
		{b.setting(room, chat.MembersInvite, new(true)), `{"invite":"members","guests":true}`, chat.MembersInvite, false},
	} {
		done := b.change(step.c)
		if len(done.Entries) != 1 || string(done.Entries[0].Body) != step.want {
			b.Errorf("made the entries %+v, want %s", done.Entries, step.want)
		}
		if done.Room.Invite != step.invite || done.Room.NoGuests != step.closed {
			b.Errorf("the room is %+v", done.Room)
		}
		if m := b.membership(room, bob); m.Room != done.Room {
			b.Errorf("a member sees %+v, want %+v", m.Room, done.Room)
		}
		b.idle(step.c)
	}
	named, name := b.setting(room, chat.AdminsInvite, new(false)), "new"
	b.change(named)
	named = b.wanted(chat.UpdateRoom, room, ann)
	named.To.Name = &name
	if done := b.change(named); done.Room.Invite != chat.AdminsInvite || !done.Room.NoGuests {
		b.Errorf("a new name has changed the settings: %+v", done.Room)
	}
}

func forbiddenChange(b *storeBench) {
	room, private, name := b.room(ann, bob, cyn), b.privateRoom(ann, cyn), "new"
	b.leave(room, cyn)
	b.known(dan)
	for _, kind := range []chat.ChangeKind{
		chat.Kick, chat.Ban, chat.Unban, chat.SetRole, chat.Mute, chat.UpdateRoom, chat.DeleteRoom, chat.Invite,
	} {
		for _, who := range []struct {
			room, by string
			want     error
		}{
			{room, bob, chat.ErrForbidden},
			{room, cyn, chat.ErrNotMember},
			{room, dan, chat.ErrNotMember},
			{private, dan, chat.ErrNotFound},
			{"no-room", ann, chat.ErrNotFound},
		} {
			if kind == chat.Invite && who.by == bob {
				continue // bob may invite into a public room
			}
			var users []string
			if kind != chat.UpdateRoom && kind != chat.DeleteRoom {
				users = []string{dan}
			}
			c := b.wanted(kind, who.room, who.by, users...)
			c.Role, c.Until, c.To.Name = chat.Admin, b.now, &name
			if done, err := b.Change(b.ctx, c); !errors.Is(err, who.want) || done.Changed {
				b.Errorf("%s of %s by %s: %+v, %v; want %v", kind, who.room, who.by, done, err, who.want)
			}
		}
	}
	if n := len(b.history(room)); n != 0 {
		b.Errorf("refused changes made %d entries", n)
	}
	b.balanced()
}
