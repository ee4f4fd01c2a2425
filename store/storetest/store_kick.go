package storetest

import (
	"time"

	"hongbao/chat"
)

func kickTests() []storeTest {
	return []storeTest{
		{"a kicked user is out, and may come back", kick},
		{"a banned user stays out until unbanned", ban},
		{"a user who never was a member can be banned", banStranger},
	}
}

func kick(b *storeBench) {
	room := b.room(ann, bob, cyn)
	until := b.now.Add(time.Hour)
	b.Stand(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Admin, MutedUntil: until})
	done := b.change(b.wanted(chat.Kick, room, ann, bob))
	b.moved(done, []string{bob}, nil, []string{bob})
	if len(done.Entries) != 1 || done.Room.Members != 2 {
		b.Fatalf("kicked %+v", done)
	}
	b.told(done.Entries[0], ann, chat.MemberChange{User: bob, Change: "kicked", By: ann})
	b.stands(room, bob, chat.Standing{Ever: true, MutedUntil: until})
	b.idle(b.wanted(chat.Kick, room, ann, bob))
	_, _, err := b.Append(b.ctx, b.draft(room, bob, "still here?"))
	b.refused(err, chat.ErrNotMember)
	if m := b.join(room, bob); m.Role != chat.Plain || m.Room.Members != 3 || m.Unread != 0 {
		b.Errorf("back as %+v", m)
	}
	b.unchanged(room, func() {
		_, err := b.Change(b.ctx, b.wanted(chat.Kick, room, bob, cyn))
		b.refused(err, chat.ErrForbidden)
	})
	b.idle(b.wanted(chat.Kick, room, ann, "nobody"))
}

func ban(b *storeBench) {
	room := b.room(ann, bob, cyn)
	done := b.change(b.wanted(chat.Ban, room, ann, bob))
	b.moved(done, []string{bob}, nil, []string{bob})
	if len(done.Entries) != 1 {
		b.Fatalf("banned %+v", done)
	}
	b.told(done.Entries[0], ann, chat.MemberChange{User: bob, Change: "banned", By: ann})
	banned, bannedOut := chat.Standing{Ever: true, Banned: true}, chat.Standing{Ever: true, Banned: true, Left: true}
	b.stands(room, bob, banned)
	b.idle(b.wanted(chat.Ban, room, ann, bob))
	_, _, err := b.Join(b.ctx, b.joining(room, bob))
	b.refused(err, chat.ErrBanned)

	b.leave(room, cyn)
	done = b.change(b.wanted(chat.Ban, room, ann, cyn)) // cyn is out already
	b.moved(done, []string{cyn}, nil, nil)
	b.stands(room, cyn, bannedOut)
	if len(done.Entries) != 1 || done.Room.Members != 1 {
		b.Errorf("ban of a former member: %+v", done)
	}

	done = b.change(b.wanted(chat.Unban, room, ann, bob))
	b.moved(done, []string{bob}, nil, nil)
	if len(done.Entries) != 0 {
		b.Errorf("unbanning made the entries %+v", done.Entries)
	}
	b.stands(room, bob, chat.Standing{Ever: true})
	b.stands(room, cyn, bannedOut)
	b.idle(b.wanted(chat.Unban, room, ann, bob))
	b.idle(b.wanted(chat.Unban, room, ann, "nobody"))
	b.join(room, bob)
}

func banStranger(b *storeBench) {
	room := b.room(ann)
	b.known(bob)
	b.idle(b.wanted(chat.Kick, room, ann, bob))
	b.moved(b.change(b.wanted(chat.Ban, room, ann, bob)), []string{bob}, nil, nil)
	b.stands(room, bob, chat.Standing{Ever: true, Banned: true})
	_, _, err := b.Join(b.ctx, b.joining(room, bob))
	b.refused(err, chat.ErrBanned)
	b.moved(b.change(b.wanted(chat.Ban, room, ann, "nobody")), []string{"nobody"}, nil, nil) // an unknown user is banned as a known one is
	b.stands(room, "nobody", chat.Standing{Ever: true, Banned: true})
	b.change(b.wanted(chat.Unban, room, ann, bob))
	if m := b.join(room, bob); m.Role != chat.Plain || m.Room.Members != 2 || m.Unread != 0 {
		b.Errorf("in as %+v", m)
	}
}
