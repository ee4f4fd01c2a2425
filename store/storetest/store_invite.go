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
		{"an invitation brings back users that were removed", inviteBack},
		{"an invitation succeeds for all users or for none", inviteAllOrNone},
		{"who may invite is a setting", inviters},
		{"a muted member invites nobody", mutedInvites},
		{"guests stay out of a room without guests", withoutGuests},
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
	b.idle(b.wanted(chat.Invite, room, ann, cyn, ann))
}

// inviters changes the setting invite of a public and a private room. Each invitation must be judged by the setting as it
// is then.
func inviters(b *storeBench) {
	public, private := b.room(ann, bob), b.privateRoom(ann, bob)
	b.known(cyn)
	b.change(b.giving(chat.Admin, private, ann, bob))
	b.moved(b.change(b.wanted(chat.Invite, private, bob, cyn)), []string{cyn}, []string{cyn}, nil)
	b.change(b.giving(chat.Plain, private, ann, bob))
	for room, usual := range map[string]bool{public: true, private: false} {
		for i, members := range []bool{usual, !usual, usual} {
			if i > 0 {
				setting := map[bool]chat.Inviters{true: chat.MembersInvite, false: chat.AdminsInvite}[members]
				b.change(b.setting(room, setting, nil))
			}
			user := b.id("user")
			b.known(user)
			if members {
				b.moved(b.change(b.wanted(chat.Invite, room, bob, user)), []string{user}, []string{user}, nil)
				continue
			}
			b.unchanged(room, func() {
				_, err := b.Change(b.ctx, b.wanted(chat.Invite, room, bob, user))
				b.refusedField(err, chat.ErrForbidden, "invite")
			})
		}
	}
}

func mutedInvites(b *storeBench) {
	room := b.room(ann, bob)
	b.known(cyn)
	until := b.now.Add(time.Hour)
	for _, role := range []chat.Role{chat.Plain, chat.Admin} {
		b.Stand(room, bob, chat.Standing{Ever: true, In: true, Role: role, MutedUntil: until})
		b.unchanged(room, func() {
			_, err := b.Change(b.ctx, b.wanted(chat.Invite, room, bob, cyn))
			b.refused(err, chat.ErrMuted)
		})
	}
	c := b.wanted(chat.Invite, room, bob, cyn)
	c.At = until
	b.moved(b.change(c), []string{cyn}, []string{cyn}, nil)
}

func withoutGuests(b *storeBench) {
	const guest, member = chat.GuestPrefix + "new", chat.GuestPrefix + "member"
	public, private := b.room(ann, member), b.privateRoom(ann, guest)
	b.known(guest, bob)
	b.leave(private, guest)
	for _, room := range []string{public, private} {
		b.change(b.setting(room, "", new(false)))
	}
	refused := func(room string, enter func() error) {
		b.Helper()
		b.unchanged(room, func() { b.refusedField(enter(), chat.ErrForbidden, "guests") })
	}
	refused(public, func() error {
		_, _, err := b.Join(b.ctx, b.joining(public, guest))
		return err
	})
	for _, c := range []chat.Change{
		b.wanted(chat.Invite, public, ann, bob, guest), b.wanted(chat.Rejoin, private, guest, guest),
	} {
		refused(c.Room, func() error {
			_, err := b.Change(b.ctx, c)
			return err
		})
	}
	if _, changed, err := b.Join(b.ctx, b.joining(public, member)); err != nil || changed {
		b.Errorf("a guest that is a member joins again: changed %v, %v", changed, err)
	}
	b.idle(b.wanted(chat.Invite, public, ann, member))
	b.join(public, bob)
	b.change(b.setting(private, "", new(true)))
	b.change(b.wanted(chat.Rejoin, private, guest, guest))
}

func inviteBack(b *storeBench) {
	room := b.room(ann, bob, cyn, dan)
	until := b.now.Add(time.Hour)
	b.Stand(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Plain, MutedUntil: until})
	b.change(b.wanted(chat.Kick, room, ann, bob))
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
	b.room(ann, dan) // a room that dan has not chosen
	b.change(b.wanted(chat.Ban, room, ann, cyn))
	b.known("eve")
	b.change(b.wanted(chat.Invite, room, ann, "eve"))
	b.leave(room, "eve")
	b.join(b.room(ann), "eve")
	for _, test := range []struct {
		name  string
		users []string
		limit func(c *chat.Change)
		want  error
		field string
	}{
		{"unknown", []string{bob, "nobody"}, func(*chat.Change) {}, chat.ErrContactRefused, "users"},
		{"banned", []string{bob, cyn}, func(*chat.Change) {}, chat.ErrBanned, ""},
		{"left before", []string{bob, "eve"}, func(*chat.Change) {}, chat.ErrContactRefused, "users"},
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
