package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/store/enginetest"
)

func bulkTests() []storeTest {
	return []storeTest{
		{"many are added without entries, and those are named that may not be", addMany},
		{"thousands are added, and removed again", addThousands},
		{"many are removed without entries, but never the owner", removeMany},
		{"the first that is added to an empty room owns it", addToEmptyRoom},
		{"an announcement is one entry", announceMany},
		{"no user can change members in bulk", bulkByUser},
		{"a ban ends by itself", banEnds},
		{"a ban has a reason, and another ban changes it", banAgain},
		{"a user whose ban has ended asks to enter", askAfterBan},
	}
}

func refusedUsers(refused []chat.Refusal, want error) (users []string) {
	for _, r := range refused {
		if errors.Is(r.Err, want) {
			users = append(users, r.User)
		}
	}
	return users
}

func addMany(b *storeBench) {
	r := b.newRoom(ann, bob)
	r.NoGuests = true
	room := b.create(r).Room.ID
	b.known(cyn, dan)
	b.must(b.EnsureUsers(b.ctx, []string{"guest:g", "full", "left"}))
	b.change(b.wanted(chat.Ban, room, ann, dan))
	b.room("full")
	b.join(room, "left")
	b.leave(room, "left")
	var users []string
	for i := range 50 {
		users = append(users, member(i))
	}
	b.must(b.EnsureUsers(b.ctx, users))
	last := b.membership(room, ann).Room.LastSeq
	c := bySystem(b.wanted(chat.AddMembers, room, ann, append(users, bob, cyn, dan, "guest:g", "unseen", "left")...))
	done := b.change(c)
	if want := append(slices.Clone(users), cyn, "left"); !slices.Equal(sorted(done.Entered), sorted(want)) || len(done.Entries) > 0 || done.Room.LastSeq != last {
		b.Errorf("entered %v with %d entries up to %d, want %v", done.Entered, len(done.Entries), done.Room.LastSeq, want)
	}
	for want, user := range map[error]string{chat.ErrBanned: dan, chat.ErrForbidden: "guest:g", chat.ErrNotFound: "unseen"} {
		if got := refusedUsers(done.Refused, want); !slices.Equal(got, []string{user}) {
			b.Errorf("%v refuses %v, want %s", want, got, user)
		}
	}
	if m := b.membership(room, member(7)); m.ReadSeq != last || m.Role != chat.Plain || m.Room.Members != 54 {
		b.Errorf("a new member sees %+v", m)
	}
	again, err := b.Change(b.ctx, c)
	if err != nil || again.Changed || len(again.Refused) != 3 {
		b.Errorf("again: %+v, %v; want nothing but the refusals", again, err)
	}
	c = bySystem(b.wanted(chat.AddMembers, room, ann, "full", "another"))
	b.must(b.EnsureUsers(b.ctx, []string{"another"}))
	b.room(ann, "another")
	c.MaxRooms = 1
	none, err := b.Change(b.ctx, c)
	if err != nil || none.Changed && slices.Contains(none.Entered, "another") || !slices.Contains(refusedUsers(none.Refused, chat.ErrLimitExceeded), "another") {
		b.Errorf("a user in too many rooms: %+v, %v", none, err)
	}
	c = bySystem(b.wanted(chat.AddMembers, room, ann, "more"))
	b.must(b.EnsureUsers(b.ctx, []string{"more"}))
	c.MaxMembers = 3
	if full, err := b.Change(b.ctx, c); err != nil || full.Changed || len(refusedUsers(full.Refused, chat.ErrLimitExceeded)) != 1 {
		b.Errorf("a full room: %+v, %v", full, err)
	}
	b.balanced()
}

// addThousands changes as many members at once as the server API takes in one request. Under the race detector it changes fewer, because
// Postgres ends a transaction whose client computes for too long. A busy database may take longer than a store waits. Then the test repeats
// the request, at most twice, as a host does. An earlier request may have been committed, so a later one may have nothing left to do.
func addThousands(b *storeBench) {
	n := 10_000
	if enginetest.RaceDetector() {
		n = 2_000
	}
	room, users := b.room(ann), make([]string, n)
	for i := range users {
		users[i] = member(i)
	}
	b.must(b.EnsureUsers(b.ctx, users))
	change := func(kind chat.ChangeKind, want int) {
		c := bySystem(b.wanted(kind, room, ann, users...))
		c.MaxMembers = len(users) + 1
		done, err := b.Change(b.ctx, c)
		tries := 1
		for ; errors.Is(err, chat.ErrUnavailable) && tries < 3; tries++ {
			done, err = b.Change(b.ctx, c)
		}
		b.must(err)
		moved := len(done.Entered) + len(done.Exited)
		if committedBefore := tries > 1 && !done.Changed; !committedBefore && (moved != len(users) || len(done.Refused) > 0) {
			b.Errorf("%v: %d users entered or left and %d were refused, want %d and 0", kind, moved, len(done.Refused), len(users))
		}
		if m := b.membership(room, ann); m.Room.Members != want {
			b.Errorf("%v: the room has %d members, want %d", kind, m.Room.Members, want)
		}
	}
	change(chat.AddMembers, len(users)+1)
	if m := b.membership(room, users[len(users)-1]); m.Room.Members != len(users)+1 {
		b.Errorf("the last one that was added sees %d members, want %d", m.Room.Members, len(users)+1)
	}
	change(chat.RemoveMembers, 1)
	b.balanced()
}

func removeMany(b *storeBench) {
	room := b.room(ann, bob, cyn, dan)
	last := b.membership(room, ann).Room.LastSeq
	b.change(b.wanted(chat.Ban, room, ann, dan))
	done := b.change(bySystem(b.wanted(chat.RemoveMembers, room, ann, ann, bob, cyn, dan, "unseen")))
	if !slices.Equal(sorted(done.Exited), []string{bob, cyn}) || len(done.Entries) > 0 || done.Room.LastSeq != last+1 {
		b.Errorf("removed %v with %d entries, want bob and cyn", done.Exited, len(done.Entries))
	}
	if got := refusedUsers(done.Refused, chat.ErrForbidden); !slices.Equal(got, []string{ann}) || len(done.Refused) != 1 {
		b.Errorf("refused %+v, want the owner", done.Refused)
	}
	b.stands(room, bob, chat.Standing{Ever: true})
	b.stands(room, dan, chat.Standing{Ever: true, Banned: true})
	b.join(room, bob)
	b.balanced()
}

func addToEmptyRoom(b *storeBench) {
	room := b.room(ann)
	b.leave(room, ann)
	b.known(bob, cyn)
	b.change(bySystem(b.wanted(chat.AddMembers, room, ann, bob, cyn)))
	b.stands(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Owner})
	b.stands(room, cyn, chat.Standing{Ever: true, In: true, Role: chat.Plain})
	b.balanced()
}

func announceMany(b *storeBench) {
	room := b.room(ann)
	c := bySystem(b.wanted(chat.Announce, room, ann))
	c.Said = chat.MembersChange{MemberChange: chat.MemberChange{User: bob, Change: "added", By: chat.System.ID}, Users: []string{bob, cyn}, Count: 70}
	done := b.change(c)
	const want = `{"user":"bob","change":"added","by":"~system","users":["bob","cyn"],"count":70}`
	if len(done.Entries) != 1 || string(done.Entries[0].Body) != want || done.Entries[0].Kind != chat.KindMember {
		b.Errorf("the entries are %+v, want one with %s", done.Entries, want)
	}
}

func bulkByUser(b *storeBench) {
	room := b.room(ann, bob)
	for _, kind := range []chat.ChangeKind{chat.AddMembers, chat.RemoveMembers, chat.Announce} {
		b.unchanged(room, func() {
			_, err := b.Change(b.ctx, b.wanted(kind, room, ann, bob))
			b.refused(err, chat.ErrForbidden)
		})
	}
}

// ban bans bob by ann until a time; the zero time: for ever.
func (b *storeBench) ban(room string, until time.Time, why string) chat.Changed {
	b.Helper()
	c := b.wanted(chat.Ban, room, ann, bob)
	c.BanUntil, c.Why = until, why
	return b.change(c)
}

func banEnds(b *storeBench) {
	room := b.room(ann, bob)
	until := b.now.Add(time.Hour)
	done := b.ban(room, until, "spam")
	if got, want := string(done.Entries[0].Body), fmt.Sprintf(`{"user":"bob","change":"banned","by":"ann","until":%d}`, until.UnixMilli()); got != want {
		b.Errorf("the entry says %s, want %s", got, want)
	}
	b.stands(room, bob, chat.Standing{Ever: true, Banned: true, BannedUntil: until})
	join := func(at time.Time) error {
		_, _, err := b.Join(b.ctx, chat.Joining{Room: room, User: bob, At: at, MaxRooms: 10, MaxMembers: 10})
		return err
	}
	draft := b.draft(room, bob, "hello")
	draft.At = until
	_, _, err := b.Append(b.ctx, draft)
	b.refused(err, chat.ErrNotMember)
	for at, want := range map[time.Time]error{until.Add(-time.Millisecond): chat.ErrBanned, until: chat.ErrNotMember} {
		_, err := b.Read(b.ctx, room, bob, 1, at)
		b.refused(err, want)
		_, err = b.SetPrefs(b.ctx, chat.PrefsChange{Room: room, User: bob, Pinned: new(true), At: at})
		b.refused(err, want)
	}
	b.refused(join(until.Add(-time.Millisecond)), chat.ErrBanned)
	b.Store = b.Reopen()
	b.refused(join(until.Add(-time.Millisecond)), chat.ErrBanned)
	b.must(join(until))
	b.stands(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Plain})
	if bans, _, err := b.Bans(b.ctx, room, "", 10, until.Add(-time.Millisecond)); err != nil || len(bans) > 0 {
		b.Errorf("after the user has come back: %+v, %v", bans, err)
	}
	b.ban(room, until.Add(time.Hour), "") // bob is a member again, and is banned again
	for at, want := range map[time.Duration]int{0: 1, time.Hour: 0} {
		if bans, _, err := b.Bans(b.ctx, room, "", 10, until.Add(at)); err != nil || len(bans) != want || want == 1 && bans[0].Reason != "" {
			b.Errorf("after %v: %+v, %v; want %d bans, without the reason of the first one", at, bans, err, want)
		}
	}
	invite := b.wanted(chat.Invite, room, ann, bob)
	_, err = b.Change(b.ctx, invite)
	b.refused(err, chat.ErrBanned)
	invite.At = until.Add(time.Hour)
	b.change(invite)
	b.stands(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Plain})
	b.balanced()
}

func banAgain(b *storeBench) {
	room := b.room(ann, bob, cyn, dan)
	list := func(want ...chat.Banned) {
		b.Helper()
		bans, more, err := b.Bans(b.ctx, room, "", 10, b.now)
		if err != nil || more != "" || !slices.Equal(bans, want) {
			b.Errorf("bans %+v, %v; want %+v", bans, err, want)
		}
	}
	list()
	until := b.now.Add(time.Hour)
	b.ban(room, time.Time{}, "spam")
	list(chat.Banned{User: person(bob), Reason: "spam"})
	if done := b.ban(room, until, ""); len(done.Entries) > 0 {
		b.Errorf("a second ban makes the entries %+v", done.Entries)
	}
	list(chat.Banned{User: person(bob), Until: until, Reason: "spam"})
	b.ban(room, until, "worse")
	list(chat.Banned{User: person(bob), Until: until, Reason: "worse"})
	same := b.wanted(chat.Ban, room, ann, bob)
	same.BanUntil = until
	if done, err := b.Change(b.ctx, same); err != nil || done.Changed {
		b.Errorf("the same ban: %+v, %v; want no change", done, err)
	}
	mute := b.wanted(chat.Mute, room, ann, bob)
	mute.Until = until
	b.change(mute)
	list(chat.Banned{User: person(bob), Until: until, Reason: "worse"})
	b.change(b.wanted(chat.Ban, room, ann, dan))
	page, more, err := b.Bans(b.ctx, room, "", 1, b.now)
	if err != nil || len(page) != 1 || page[0].User.ID != bob || more == "" {
		b.Errorf("the first page is %+v, %q, %v", page, more, err)
	}
	if page, more, err := b.Bans(b.ctx, room, more, 1, b.now); err != nil || len(page) != 1 || page[0].User.ID != dan || more != "" {
		b.Errorf("the second page is %+v, %q, %v", page, more, err)
	}
	b.change(b.wanted(chat.Unban, room, ann, bob))
	b.change(b.wanted(chat.Unban, room, ann, dan))
	list()
}

func askAfterBan(b *storeBench) {
	room := b.privateRoom(ann, bob)
	until := b.now.Add(time.Hour)
	b.ban(room, until, "spam")
	link := chat.NewLink{Link: chat.Link{Room: room, ID: "l", Creator: person(ann), CreatedAt: b.now, ExpiresAt: until.Add(time.Hour), Approval: true}, Most: 10}
	_, err := b.CreateLink(b.ctx, link)
	b.must(err)
	ask := b.wanted(chat.JoinLink, room, bob, bob)
	ask.Link = "l"
	_, err = b.Change(b.ctx, ask)
	b.refused(err, chat.ErrBanned)
	ask.At = until
	b.change(ask)
	if asking, err := b.JoinRequests(b.ctx, room, 10); err != nil || len(asking) != 1 {
		b.Errorf("ask to enter: %+v, %v; want bob", asking, err)
	}
	admit := b.wanted(chat.Admit, room, ann, bob)
	admit.At = until
	b.change(admit)
	b.stands(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Plain})
}
