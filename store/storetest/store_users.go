package storetest

import (
	"maps"
	"slices"
	"time"

	"hongbao/chat"
)

func userTests() []storeTest {
	return []storeTest{
		{"tokens are revoked up to a second, and never fewer", revoke},
		{"the name in a revoked token is ignored", revokedName},
		{"a name and an avatar that a token does not say stay", keptNames},
		{"many revoke at once", revokeAtOnce},
		{"a record has what a token said, and only of a known user", userRecord},
		{"a roster lists the members", roster},
		{"members that were active lately", activeSince},
	}
}

func userRecord(b *storeBench) {
	b.known(ann)
	if u, err := b.UserRecord(b.ctx, ann); err != nil || u.User != person(ann) {
		b.Errorf("%+v, %v; want %+v", u, err, person(ann))
	}
	_, err := b.UserRecord(b.ctx, bob)
	b.refused(err, chat.ErrNotFound)
}

func revoke(b *storeBench) {
	notBefore := func(u chat.User, want int64) {
		b.Helper()
		if _, got, err := b.PutUser(b.ctx, chat.Profile{User: u}, 0); err != nil || got != want {
			b.Errorf("not before %d, %v; want %d", got, err, want)
		}
	}
	notBefore(person(ann), 0)
	notBefore(person(ann), 0)
	for _, step := range []struct{ second, want int64 }{{1_700_000_000, 1_700_000_000}, {1_600_000_000, 1_700_000_000}, {1_700_000_001, 1_700_000_001}} {
		b.must(b.Revoke(b.ctx, ann, step.second))
		notBefore(person(ann), step.want)
	}
	notBefore(chat.User{ID: ann, Name: "Ann II"}, 1_700_000_001)
	b.must(b.Revoke(b.ctx, bob, 5)) // an unknown user
	revoked, err := b.Revoked(b.ctx, []string{ann, bob, cyn, "unseen"})
	if want := map[string]int64{ann: 1_700_000_001, bob: 5}; err != nil || !maps.Equal(revoked, want) {
		b.Errorf("revoked %v, %v; want %v", revoked, err, want)
	}
	b.create(b.newRoom(ann, bob))
	notBefore(person(bob), 5)
	notBefore(person(cyn), 0)
	b.Store = b.Reopen()
	notBefore(chat.User{ID: ann, Name: "Ann II"}, 1_700_000_001)
}

func revokedName(b *storeBench) {
	room := b.room(ann, bob)
	put := func(name string, issued int64, want string) {
		b.Helper()
		_, notBefore, err := b.PutUser(b.ctx, chat.Profile{User: chat.User{ID: ann, Name: name, Avatar: name}}, issued)
		b.must(err)
		page, _, err := b.Members(b.ctx, room, "", 10)
		b.must(err)
		if got := page[0].User; got.Name != want || got.Avatar != want {
			b.Errorf("%s, issued %d, not before %d: the user is %+v, want %s", name, issued, notBefore, got, want)
		}
	}
	put("no time", 0, "no time")
	put("a time", 5, "a time")
	b.must(b.Revoke(b.ctx, ann, 7))
	put("before", 6, "a time")
	put("the same second", 7, "a time")
	put("no time", 0, "a time")
	put("after", 8, "after")
	put("before", 7, "after")
}

func keptNames(b *storeBench) {
	put := func(p chat.Profile, issued int64, want chat.User) {
		b.Helper()
		if stored, _, err := b.PutUser(b.ctx, p, issued); err != nil || stored != want {
			b.Errorf("%+v: stored %+v, %v; want %+v", p, stored, err, want)
		}
	}
	full := chat.User{ID: ann, Name: "Ann", Avatar: "https://a/b.png"}
	bare := chat.User{ID: ann, Name: ann}
	put(chat.Profile{User: bare, KeepName: true, KeepAvatar: true}, 0, bare) // of a new user
	put(chat.Profile{User: full}, 0, full)
	put(chat.Profile{User: bare, KeepName: true, KeepAvatar: true}, 0, full)
	put(chat.Profile{User: bare, KeepName: true}, 0, chat.User{ID: ann, Name: "Ann"})
	put(chat.Profile{User: full, KeepAvatar: true}, 0, chat.User{ID: ann, Name: "Ann"})
	put(chat.Profile{User: chat.User{ID: ann, Name: "Anne", Avatar: "c"}, KeepName: true}, 0, chat.User{ID: ann, Name: "Ann", Avatar: "c"})
	put(chat.Profile{User: chat.User{ID: ann, Name: "Anne"}, KeepAvatar: true}, 0, chat.User{ID: ann, Name: "Anne", Avatar: "c"})

	b.must(b.Revoke(b.ctx, bob, 5)) // bob has no name yet
	put(chat.Profile{User: chat.User{ID: bob, Name: bob}, KeepName: true, KeepAvatar: true}, 5, chat.User{ID: bob})
	put(chat.Profile{User: chat.User{ID: bob, Name: bob}, KeepName: true, KeepAvatar: true}, 6, chat.User{ID: bob, Name: bob})
	put(chat.Profile{User: chat.User{ID: bob, Name: "Bob", Avatar: "b"}}, 5, chat.User{ID: bob, Name: bob})
}

func revokeAtOnce(b *storeBench) {
	const most = 20
	together(most, func(i int) {
		if err := b.Revoke(b.ctx, ann, int64(i+1)); err != nil {
			b.Error(err)
		}
	})
	if _, got, err := b.PutUser(b.ctx, chat.Profile{User: person(ann)}, 0); err != nil || got != most {
		b.Errorf("not before %d, %v; want %d", got, err, most)
	}
}

func activeSince(b *storeBench) {
	room := b.room(ann, bob, cyn, dan)
	list := func(since time.Time, limit int, want ...string) {
		b.Helper()
		got, err := b.ActiveSince(b.ctx, room, since, limit)
		if b.must(err); !slices.Equal(got, want) {
			b.Errorf("since %v: %v, want %v", since, got, want)
		}
	}
	list(b.now, 10, ann, bob, cyn, dan) // they have joined
	b.leave(room, dan)
	e := b.say(room, cyn)
	list(e.At, 10, cyn)
	_, err := b.Read(b.ctx, room, bob, e.Seq, e.At)
	b.must(err)
	list(e.At, 10, bob, cyn)
	later := b.say(room, cyn)
	list(e.At, 10, cyn, bob)
	list(e.At, 1, cyn)
	list(later.At, 10, cyn)
	list(later.At.Add(time.Second), 10)
	b.join(room, member(1))
	list(later.At.Add(time.Second), 10, member(1))
	if got, err := b.ActiveSince(b.ctx, "no-room", e.At, 10); err != nil || len(got) > 0 {
		b.Errorf("in no room: %v, %v", got, err)
	}
}

func roster(b *storeBench) {
	room := b.room(ann, bob, cyn, dan)
	b.room(bob)
	b.leave(room, cyn)
	b.change(b.wanted(chat.Ban, room, ann, dan))
	b.join(room, member(1))
	users, err := b.Roster(b.ctx, room, 10)
	b.must(err)
	if want := []string{ann, bob, member(1)}; !slices.Equal(sorted(users), sorted(want)) {
		b.Errorf("in are %v, want %v", users, want)
	}
	if users, err := b.Roster(b.ctx, room, 2); err != nil || len(users) != 2 || users[0] == users[1] {
		b.Errorf("two of them are %v, %v", users, err)
	}
	if users, err := b.Roster(b.ctx, "no-room", 10); err != nil || len(users) != 0 {
		b.Errorf("in no room are %v, %v", users, err)
	}
}
