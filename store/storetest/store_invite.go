package storetest

import (
	"errors"
	"slices"
	"time"

	"hongbao/chat"
)

func inviteTests() []storeTest {
	return []storeTest{
		{"invited users enter, each with an entry", inviteMany},
		{"an invitation brings back former members", inviteBack},
		{"an invitation succeeds for all users or for none", inviteAllOrNone},
	}
}

func inviteMany(b *storeBench) {
	room := b.privateRoom(ann)
	b.known(bob, cyn)
	b.say(room, ann)
	done := b.change(b.wanted(chat.Invite, room, ann, bob, cyn))
	b.moved(done, []string{bob, cyn}, []string{bob, cyn}, nil)
	if done.Room.Members != 3 || done.Role != chat.Owner || !slices.Equal(seqsOf(done.Entries), []int64{2, 3}) {
		b.Fatalf("invited %+v", done)
	}
	b.told(done.Entries[0], ann, chat.MemberChange{User: bob, Change: "invited", By: ann})
	b.told(done.Entries[1], ann, chat.MemberChange{User: cyn, Change: "invited", By: ann})
	b.stands(room, bob, plain)
	if m := b.membership(room, cyn); m.ReadSeq != 1 || m.Unread != 0 || m.Room.LastSeq != 3 {
		b.Errorf("in as %+v, want all read that was said before the entries", m)
	}
	b.idle(b.wanted(chat.Invite, room, bob, cyn, ann))
	b.known(dan)
	b.moved(b.change(b.wanted(chat.Invite, room, bob, cyn, dan)), []string{dan}, []string{dan}, nil) // any member may invite
}

func inviteBack(b *storeBench) {
	room := b.room(ann, bob, cyn, dan)
	until := b.now.Add(time.Hour)
	b.Stand(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Admin, MutedUntil: until})
	b.leave(room, bob)
	b.change(b.wanted(chat.Kick, room, ann, cyn))
	seq := b.say(room, ann).Seq
	b.moved(b.change(b.wanted(chat.Invite, room, dan, bob, cyn)), []string{bob, cyn}, []string{bob, cyn}, nil)
	muted := plain
	muted.MutedUntil = until
	b.stands(room, bob, muted)
	b.stands(room, cyn, plain)
	if m := b.membership(room, bob); m.ReadSeq != seq || m.Unread != 0 {
		b.Errorf("back as %+v, want all read up to %d", m, seq)
	}
	if last := b.people(room)[2:]; last[0].User.ID != bob || last[1].User.ID != cyn {
		b.Errorf("a returning member is not the newest: %+v", last)
	}
}

func inviteAllOrNone(b *storeBench) {
	room := b.privateRoom(ann, cyn)
	b.known(bob, dan)
	b.room(dan)
	b.change(b.wanted(chat.Ban, room, ann, cyn))
	for _, test := range []struct {
		name  string
		users []string
		limit func(c *chat.Change)
		want  error
		field string
	}{
		{"unknown", []string{bob, "nobody"}, func(*chat.Change) {}, chat.ErrNotFound, "users"},
		{"banned", []string{bob, cyn}, func(*chat.Change) {}, chat.ErrBanned, ""},
		{"in too many rooms", []string{bob, dan}, func(c *chat.Change) { c.MaxRooms = 1 }, chat.ErrLimitExceeded, "users"},
		{"more than the room holds", []string{bob, dan}, func(c *chat.Change) { c.MaxMembers = 2 }, chat.ErrLimitExceeded, "users"},
	} {
		c := b.wanted(chat.Invite, room, ann, test.users...)
		test.limit(&c)
		b.unchanged(room, func() {
			if _, err := b.Change(b.ctx, c); test.field != "" {
				b.refusedField(err, test.want, test.field)
			} else if !errors.Is(err, test.want) {
				b.Errorf("%s: got error %v, want %v", test.name, err, test.want)
			}
		})
		b.stands(room, bob, chat.Standing{})
	}
	c := b.wanted(chat.Invite, room, ann, bob, dan)
	c.MaxRooms, c.MaxMembers = 2, 3 // both limits are just enough
	b.change(c)
}
