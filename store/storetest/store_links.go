package storetest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
)

func linkTests() []storeTest {
	return []storeTest{
		{"a user enters by an invite link", enterByLink},
		{"an invite link lets in as many users as it says", linkUses},
		{"an invite link works while its creator may invite", linkOfCreator},
		{"users that cannot enter by an invite link", linkRefused},
		{"invite links are listed and deleted", listedLinks},
		{"a user asks to enter by a link that needs approval", askByLink},
		{"users that cannot be let in", admitRefused},
		{"a room has a limited number of links that work", limitedLinks},
		{"a repeated request for an invite link returns the first link", repeatedLinks},
	}
}

// newLink returns a link that works for an hour. It is not stored yet.
func (b *storeBench) newLink(room, creator string, maxUses int) chat.NewLink {
	at := b.tick()
	return chat.NewLink{
		Link: chat.Link{Room: room, ID: b.id("link"), Creator: person(creator), CreatedAt: at, ExpiresAt: at.Add(time.Hour), MaxUses: maxUses},
		Most: 3,
	}
}

func (b *storeBench) link(room, creator string, maxUses int) chat.Link {
	b.Helper()
	l := b.newLink(room, creator, maxUses)
	_, err := b.CreateLink(b.ctx, l)
	b.must(err)
	return l.Link
}

func (b *storeBench) linkRefusal(l chat.NewLink) error {
	_, err := b.CreateLink(b.ctx, l)
	return err
}

func (b *storeBench) byLink(l chat.Link, user string) chat.Change {
	b.known(user)
	c := b.wanted(chat.JoinLink, l.Room, user, user)
	c.Link = l.ID
	return c
}

// refusedLink fails the test unless the change is refused and changes nothing.
func (b *storeBench) refusedLink(c chat.Change, want error) {
	b.Helper()
	b.unchanged(c.Room, func() {
		_, err := b.Change(b.ctx, c)
		b.refused(err, want)
	})
}

func (b *storeBench) wantLinks(room, creator string, want ...chat.Link) {
	b.Helper()
	if got, err := b.Links(b.ctx, room, creator, b.now); err != nil || !slices.Equal(got, want) {
		b.Errorf("links of %q:\n%+v, %v; want\n%+v", creator, got, err, want)
	}
}

func enterByLink(b *storeBench) {
	room := b.privateRoom(ann)
	seq := b.say(room, ann).Seq
	l := b.link(room, ann, 0)
	done := b.change(b.byLink(l, bob))
	b.moved(done, []string{bob}, []string{bob}, nil)
	b.told(done.Entries[0], bob, chat.MemberChange{User: bob, Change: "invited", By: ann})
	b.stands(room, bob, plain)
	if m := b.membership(room, bob); m.ReadSeq != seq || m.Room.Members != 2 {
		b.Errorf("in as %+v", m)
	}
	b.idle(b.byLink(l, bob))
	l.Uses = 1
	b.wantLinks(room, "", l)
	b.must(b.DeleteLink(b.ctx, room, l.ID, ""))
	b.idle(b.byLink(l, bob)) // a repeated request of a member still succeeds after the link was deleted
	b.refusedLink(b.byLink(l, cyn), chat.ErrNotFound)

	r := b.newRoom(bob)
	r.MaxRooms = 1
	_, _, err := b.CreateRoom(b.ctx, r) // bob has chosen the room of the link
	b.refused(err, chat.ErrLimitExceeded)
}

// linkUses has three users enter at the same time by a link for two. One of them must be refused.
func linkUses(b *storeBench) {
	room := b.room(ann)
	l := b.link(room, ann, 2)
	var entering sync.WaitGroup
	users := []string{bob, cyn, dan}
	results := make([]error, len(users))
	for i, user := range users {
		c := b.byLink(l, user)
		entering.Go(func() { _, results[i] = b.Change(b.ctx, c) })
	}
	entering.Wait()
	refused := slices.DeleteFunc(results, func(err error) bool { return err == nil })
	if len(refused) != 1 || !errors.Is(refused[0], chat.ErrNotFound) {
		b.Errorf("refused: %v, want one user, as not found", refused)
	}
	if r, err := b.Room(b.ctx, room); err != nil || r.Members != 3 {
		b.Errorf("the room is %+v, %v", r, err)
	}
	l.Uses = 2
	b.wantLinks(room, "", l)
}

func linkOfCreator(b *storeBench) {
	room := b.room(ann, bob)
	l := b.link(room, bob, 0)
	for _, test := range []struct {
		loses, regains func()
	}{
		{
			func() {
				b.Stand(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Plain, MutedUntil: b.now.Add(time.Hour)})
			},
			func() { b.Stand(room, bob, plain) },
		},
		{func() { b.change(b.setting(room, chat.AdminsInvite, nil)) }, func() { b.change(b.setting(room, chat.MembersInvite, nil)) }},
		{func() { b.leave(room, bob) }, func() { b.join(room, bob) }},
		{func() { b.change(b.wanted(chat.Kick, room, ann, bob)) }, func() { b.join(room, bob) }},
	} {
		test.loses()
		b.refusedLink(b.byLink(l, cyn), chat.ErrNotFound)
		test.regains()
		b.change(b.byLink(l, cyn))
		b.leave(room, cyn)
	}
	b.change(b.wanted(chat.Ban, room, ann, bob))
	b.refusedLink(b.byLink(l, cyn), chat.ErrNotFound)
}

func linkRefused(b *storeBench) {
	room := b.privateRoom(ann, bob)
	l := b.link(room, ann, 0)
	b.change(b.wanted(chat.Ban, room, ann, bob))
	b.refusedLink(b.byLink(l, bob), chat.ErrBanned)
	full := b.byLink(l, cyn)
	full.MaxMembers = 1
	b.refusedLink(full, chat.ErrLimitExceeded)
	crowded := b.byLink(l, cyn)
	b.room(cyn)
	crowded.MaxRooms = 1
	b.refusedLink(crowded, chat.ErrLimitExceeded)
	late := b.byLink(l, cyn)
	late.At = l.ExpiresAt
	b.refusedLink(late, chat.ErrNotFound)
	elsewhere := l
	elsewhere.Room = b.room(dan)
	b.refusedLink(b.byLink(elsewhere, cyn), chat.ErrNotFound)
	unknown := b.byLink(l, cyn)
	unknown.Room = "no room"
	_, err := b.Change(b.ctx, unknown)
	b.refused(err, chat.ErrNotFound)
	b.change(b.setting(room, "", new(false)))
	guest := chat.GuestPrefix + "mei"
	b.unchanged(room, func() {
		_, err := b.Change(b.ctx, b.byLink(l, guest))
		b.refusedField(err, chat.ErrForbidden, "guests")
	})
	b.change(b.wanted(chat.DeleteRoom, room, ann))
	_, err = b.Change(b.ctx, b.byLink(l, cyn))
	b.refused(err, chat.ErrNotFound)
}

func listedLinks(b *storeBench) {
	room := b.room(ann, bob)
	other := b.link(b.room(ann), ann, 0)
	first, second := b.link(room, ann, 0), b.link(room, bob, 5)
	b.Store = b.Reopen()
	b.wantLinks(room, "", second, first)
	b.wantLinks(room, bob, second)
	if got, err := b.Links(b.ctx, room, "", second.ExpiresAt); err != nil || len(got) != 0 {
		b.Errorf("after an hour there are %+v, %v", got, err)
	}
	want := chat.LinkState{Link: first, By: chat.Standing{Ever: true, In: true, Role: chat.Owner}}
	if got, err := b.Link(b.ctx, room, first.ID); err != nil || got != want {
		b.Errorf("the link is %+v, %v, want %+v", got, err, want)
	}
	_, err := b.Link(b.ctx, room, other.ID)
	b.refused(err, chat.ErrNotFound)

	b.must(b.DeleteLink(b.ctx, room, first.ID, bob))
	b.must(b.DeleteLink(b.ctx, room, other.ID, ""))
	b.wantLinks(room, "", second, first)
	b.must(b.DeleteLink(b.ctx, room, first.ID, ""))
	b.must(b.DeleteLink(b.ctx, room, first.ID, ""))
	b.must(b.DeleteLink(b.ctx, room, second.ID, bob))
	b.wantLinks(room, "")
	b.wantLinks(other.Room, "", other)
}

func limitedLinks(b *storeBench) {
	room := b.room(ann, bob)
	once := b.link(room, ann, 1)
	second, third := b.link(room, bob, 0), b.link(room, ann, 0)
	b.refusedField(b.linkRefusal(b.newLink(room, bob, 0)), chat.ErrLimitExceeded, "room")
	b.change(b.byLink(once, cyn))
	fourth := b.link(room, ann, 0) // the first one is used up
	b.wantLinks(room, "", fourth, third, second)
	later := b.newLink(room, ann, 0)
	later.CreatedAt = fourth.ExpiresAt
	later.ExpiresAt = later.CreatedAt.Add(time.Hour)
	_, err := b.CreateLink(b.ctx, later)
	b.must(err)
	b.wantLinks(room, "", later.Link)

	b.refused(b.linkRefusal(b.newLink(room, dan, 0)), chat.ErrNotMember)
	b.refused(b.linkRefusal(b.newLink("no room", ann, 0)), chat.ErrNotFound)
	b.refused(b.linkRefusal(b.newLink(b.privateRoom(ann), dan, 0)), chat.ErrNotFound)
	b.known(bob)
	b.refused(b.linkRefusal(b.newLink(b.direct(ann, bob).Membership.Room.ID, ann, 0)), chat.ErrForbidden)
	b.refusedField(b.linkRefusal(b.newLink(b.privateRoom(ann, bob), bob, 0)), chat.ErrForbidden, "invite")
	b.change(b.wanted(chat.DeleteRoom, room, ann))
	b.refused(b.linkRefusal(b.newLink(room, ann, 0)), chat.ErrNotFound)
}

func repeatedLinks(b *storeBench) {
	room := b.room(ann, bob)
	request := func() chat.NewLink {
		l := b.newLink(room, ann, 1)
		l.Request, l.SealedCode = []byte("ann's request"), []byte(l.ID)
		return l
	}
	wantFirst := func(first chat.NewLink, repeated chat.NewLink) {
		b.Helper()
		got, err := b.CreateLink(b.ctx, repeated)
		if b.must(err); got.Link != first.Link || string(got.SealedCode) != first.ID {
			b.Errorf("repeated: %+v, want %+v", got, first)
		}
	}
	first := request()
	wantFirst(first, first)
	b.Store = b.Reopen()
	wantFirst(first, request())
	for _, other := range []func(*chat.NewLink){
		func(l *chat.NewLink) { l.MaxUses = 2 },
		func(l *chat.NewLink) { l.Approval = true },
		func(l *chat.NewLink) { l.ExpiresAt = l.ExpiresAt.Add(time.Second) },
	} {
		l := request()
		other(&l)
		b.refused(b.linkRefusal(l), chat.ErrKeyReused)
	}
	b.wantLinks(room, "", first.Link)
	b.change(b.byLink(first.Link, cyn)) // the link is used up, and still there
	first.Uses = 1
	wantFirst(first, request())
	without := b.link(room, ann, 0) // deletes the used link
	second := request()
	wantFirst(second, second)
	b.wantLinks(room, "", second.Link, without)
	elsewhere := request()
	elsewhere.Room = b.room(ann)
	wantFirst(elsewhere, elsewhere)
}

func (b *storeBench) approvedLink(room string, maxUses int) chat.Link {
	b.Helper()
	l := b.newLink(room, ann, maxUses)
	l.Approval = true
	_, err := b.CreateLink(b.ctx, l)
	b.must(err)
	return l.Link
}

// ask makes the user ask to enter by the link. The room must not change.
func (b *storeBench) ask(l chat.Link, user string) {
	b.Helper()
	b.unchanged(l.Room, func() {
		done, err := b.Change(b.ctx, b.byLink(l, user))
		if b.must(err); !done.Changed || len(done.Affected)+len(done.Entries) != 0 {
			b.Errorf("%s asks: %+v", user, done)
		}
	})
}

func (b *storeBench) wantAsking(room string, want ...string) {
	b.Helper()
	asking, err := b.JoinRequests(b.ctx, room, 10)
	b.must(err)
	var users []string
	for _, r := range asking {
		if users = append(users, r.User.ID); r.User != person(r.User.ID) || r.At.IsZero() {
			b.Errorf("asks: %+v", r)
		}
	}
	if !slices.Equal(users, want) {
		b.Errorf("%q ask, want %q", users, want)
	}
}

func askByLink(b *storeBench) {
	room := b.privateRoom(ann)
	l := b.approvedLink(room, 3)
	b.ask(l, bob)
	b.idle(b.byLink(l, bob))
	b.ask(l, cyn)
	b.wantAsking(room, bob, cyn)
	b.Store = b.Reopen()
	b.wantAsking(room, bob, cyn)
	l.Uses = 2
	b.wantLinks(room, "", l)
	done := b.change(b.wanted(chat.Admit, room, ann, bob))
	b.moved(done, []string{bob}, []string{bob}, nil)
	b.told(done.Entries[0], ann, chat.MemberChange{User: bob, Change: "invited", By: ann})
	b.idle(b.wanted(chat.Admit, room, ann, bob))
	b.wantAsking(room, cyn)
	b.must(b.DeleteLink(b.ctx, room, l.ID, ""))
	b.idle(b.byLink(l, cyn)) // the link is deleted, but the earlier request of cyn stays, so this is not refused
	if done, err := b.Change(b.ctx, b.wanted(chat.Refuse, room, ann, cyn)); err != nil || !done.Changed {
		b.Errorf("refused: %+v, %v", done, err)
	}
	b.idle(b.wanted(chat.Refuse, room, ann, cyn))
	b.wantAsking(room)
	b.refusedLink(b.byLink(l, cyn), chat.ErrNotFound)

	approved := b.approvedLink(room, 0)
	b.ask(approved, cyn)
	open := b.link(room, ann, 0)
	b.moved(b.change(b.byLink(open, cyn)), []string{cyn}, []string{cyn}, nil) // a link without approval lets cyn in at once
	b.wantAsking(room)
	b.ask(approved, dan)
	b.change(b.wanted(chat.Invite, room, ann, dan)) // dan is a member now, so the request of dan is gone
	b.wantAsking(room)
	b.change(b.wanted(chat.Kick, room, ann, dan))
	b.wantAsking(room) // the request was from before the membership
	b.ask(approved, dan)
	b.wantAsking(room, dan)
}

func admitRefused(b *storeBench) {
	room := b.privateRoom(ann, bob)
	l := b.approvedLink(room, 0)
	b.known(cyn, dan)
	_, err := b.Change(b.ctx, b.wanted(chat.Admit, room, ann, cyn))
	b.refusedField(err, chat.ErrNotFound, "user")
	b.ask(l, cyn)
	for _, by := range []string{bob, dan} {
		for _, kind := range []chat.ChangeKind{chat.Admit, chat.Refuse} {
			b.unchanged(room, func() {
				_, err := b.Change(b.ctx, b.wanted(kind, room, by, cyn))
				b.refused(err, map[string]error{bob: chat.ErrForbidden, dan: chat.ErrNotFound}[by])
			})
		}
	}
	full, crowded := b.wanted(chat.Admit, room, ann, cyn), b.wanted(chat.Admit, room, ann, cyn)
	full.MaxMembers = 2
	b.room(cyn)
	crowded.MaxRooms = 1
	for _, c := range []chat.Change{full, crowded} {
		b.unchanged(room, func() {
			_, err := b.Change(b.ctx, c)
			b.refusedField(err, chat.ErrLimitExceeded, "user")
		})
	}
	b.wantAsking(room, cyn)
	b.change(b.wanted(chat.Ban, room, ann, cyn))
	b.wantAsking(room)
	b.refusedLink(b.wanted(chat.Admit, room, ann, cyn), chat.ErrBanned)
	b.refusedLink(b.byLink(l, cyn), chat.ErrBanned)
	b.change(b.wanted(chat.Unban, room, ann, cyn))
	b.wantAsking(room) // the ban has ended the earlier request
	b.ask(l, cyn)
	b.wantAsking(room, cyn)
}
