package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

func recordTests() []storeTest {
	return []storeTest{
		{"a host's record of a user changes only what it says", putRecords},
		{"a ref belongs to one user", userRefs},
		{"many users want one ref at once", refAtOnce},
		{"users are listed by page, by prefix of the ref, and only suspended ones", listRecords},
		{"the tokens of a suspended user are refused until the user is reinstated", suspend},
		{"a suspended user has no device code", suspendDeviceCode},
		{"users are made without a name, and known ones stay", ensureUsers},
	}
}

func (b *storeBench) put(p chat.UserPut) chat.UserRecord {
	b.Helper()
	u, err := b.PutUserRecord(b.ctx, p)
	b.must(err)
	if again, err := b.UserRecord(b.ctx, p.User); err != nil || fmt.Sprint(again) != fmt.Sprint(u) {
		b.Errorf("stored %+v, %v; the answer was %+v", again, err, u)
	}
	return u
}

func wantRecord(t *testing.T, u chat.UserRecord, name, avatar, ref, custom string) {
	t.Helper()
	if u.Name != name || u.Avatar != avatar || u.Ref != ref || string(u.Custom) != custom {
		t.Errorf("the record is %+v with %s, want %q %q %q %q", u, u.Custom, name, avatar, ref, custom)
	}
}

func putRecords(b *storeBench) {
	wantRecord(b.T, b.put(chat.UserPut{User: ann}), "", "", "", "")
	wantRecord(b.T, b.put(chat.UserPut{User: ann, Name: new("Ann"), Custom: json.RawMessage(`{"tier":"gold"}`)}), "Ann", "", "", `{"tier":"gold"}`)
	wantRecord(b.T, b.put(chat.UserPut{User: ann, Avatar: new("https://a/b"), Ref: new("c-1")}), "Ann", "https://a/b", "c-1", `{"tier":"gold"}`)
	wantRecord(b.T, b.put(chat.UserPut{User: ann, Avatar: new(""), Custom: json.RawMessage(`{}`), Ref: new("")}), "Ann", "", "", "")
	b.known(ann) // a token changes what it says, and nothing else
	b.put(chat.UserPut{User: ann, Ref: new("c-1"), Custom: json.RawMessage(`{"n":1}`)})
	_, _, err := b.PutUser(b.ctx, chat.Profile{User: chat.User{ID: ann, Name: "Ann II"}}, 0)
	b.must(err)
	u, err := b.UserRecord(b.ctx, ann)
	b.must(err)
	wantRecord(b.T, u, "Ann II", "", "c-1", `{"n":1}`)
	b.must(b.Revoke(b.ctx, ann, 5)) // the host may change a user whose tokens are revoked
	wantRecord(b.T, b.put(chat.UserPut{User: ann, Name: new("Ann III")}), "Ann III", "", "c-1", `{"n":1}`)
}

func userRefs(b *storeBench) {
	b.put(chat.UserPut{User: ann, Ref: new("one")})
	b.put(chat.UserPut{User: ann, Ref: new("one")})
	_, err := b.PutUserRecord(b.ctx, chat.UserPut{User: bob, Name: new("Bob"), Ref: new("one")})
	b.refusedField(err, chat.ErrConflict, "ref")
	if _, err := b.UserRecord(b.ctx, bob); err == nil {
		b.Error("a user whose ref was refused is stored")
	}
	b.put(chat.UserPut{User: ann, Ref: new("two")})
	b.put(chat.UserPut{User: bob, Ref: new("one")}) // the ref is free again
	b.put(chat.UserPut{User: bob, Ref: new("")})
	b.put(chat.UserPut{User: cyn, Ref: new("one")})
	found, err := b.UserRecordsOf(b.ctx, []string{ann, "unseen", ann}, []string{"one", "two", "three"})
	b.must(err)
	if ids := recordIDs(found); !slices.Equal(sorted(ids), []string{ann, cyn}) {
		b.Errorf("found %v, want ann and cyn, each once", ids)
	}
	if found, err := b.UserRecordsOf(b.ctx, nil, nil); err != nil || len(found) > 0 {
		b.Errorf("of nobody: %v, %v", found, err)
	}
}

func recordIDs(users []chat.UserRecord) []string {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.ID
	}
	return ids
}

func refAtOnce(b *storeBench) {
	const most = 20
	won := make([]bool, most)
	together(most, func(i int) {
		_, err := b.PutUserRecord(b.ctx, chat.UserPut{User: member(i), Ref: new("wanted")})
		if won[i] = err == nil; err != nil {
			b.refusedField(err, chat.ErrConflict, "ref")
		}
	})
	if n := len(slices.DeleteFunc(won, func(ok bool) bool { return !ok })); n != 1 {
		b.Errorf("%d users have the ref, want one", n)
	}
}

func listRecords(b *storeBench) {
	var all []string
	for i := range 7 {
		user := member(i)
		all = append(all, user)
		b.put(chat.UserPut{User: user, Ref: new(fmt.Sprintf("shop~%d", 9-i))})
	}
	b.put(chat.UserPut{User: "a-other", Ref: new("shoq")})
	b.put(chat.UserPut{User: "a-none"})
	_, err := b.Suspend(b.ctx, all[2], b.tick())
	b.must(err)
	_, err = b.Suspend(b.ctx, all[5], b.tick())
	b.must(err)
	list := func(q chat.UserQuery, want ...string) {
		b.Helper()
		var got []string
		for {
			page, more, err := b.UserRecords(b.ctx, q)
			b.must(err)
			if got = append(got, recordIDs(page)...); len(page) > q.Limit || more != "" && len(page) < q.Limit {
				b.Errorf("%+v: a page of %d", q, len(page))
			}
			if q.Next = more; more == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			b.Errorf("%+v lists %v, want %v", q, got, want)
		}
	}
	every := append([]string{"a-none", "a-other"}, sorted(all)...)
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	for limit := 1; limit <= 10; limit++ {
		list(chat.UserQuery{Limit: limit}, every...)
		list(chat.UserQuery{Limit: limit, RefPrefix: "shop"}, backwards...)
		list(chat.UserQuery{Limit: limit, RefPrefix: "shop~"}, backwards...)
		list(chat.UserQuery{Limit: limit, Suspended: true}, sorted([]string{all[2], all[5]})...)
	}
	list(chat.UserQuery{Limit: 3, RefPrefix: "shop~4"}, all[5])
	list(chat.UserQuery{Limit: 3, RefPrefix: "%"})
	list(chat.UserQuery{Limit: 3, RefPrefix: "shop~", Suspended: true}, all[5], all[2])
	b.put(chat.UserPut{User: all[3], Name: new("Ann 50%")})
	b.put(chat.UserPut{User: all[6], Name: new("Joanna")})
	for name, want := range map[string][]string{"ann": sorted([]string{all[3], all[6]}), "0%": {all[3]}, "%": {all[3]}, "_": nil, "nobody": nil} {
		for among := 1; among <= len(every)+1; among++ {
			var got []string
			pages := 0
			for q := (chat.UserQuery{Limit: 1, Name: name, Among: among}); ; pages++ {
				page, more, err := b.UserRecords(b.ctx, q)
				b.must(err)
				got = append(got, recordIDs(page)...)
				if q.Next = more; more == "" {
					break
				}
			}
			if !slices.Equal(got, want) || pages > len(every)/among+len(want) {
				b.Errorf("%q among %d users lists %v on %d pages, want %v", name, among, got, pages, want)
			}
		}
	}
	for _, next := range []string{"x", strings.Repeat("A", 40)} {
		_, _, err := b.UserRecords(b.ctx, chat.UserQuery{Limit: 3, Next: next})
		b.refusedField(err, chat.ErrBadRequest, "next")
	}
}

func suspend(b *storeBench) {
	notBefore := func(u chat.User, issued, want int64) {
		b.Helper()
		if _, got, err := b.PutUser(b.ctx, chat.Profile{User: u}, issued); err != nil || got != want {
			b.Errorf("not before %d, %v; want %d", got, err, want)
		}
	}
	room := b.room(ann, bob)
	said := b.say(room, bob)
	b.must(b.Revoke(b.ctx, bob, 5))
	at := b.tick()
	u, err := b.Suspend(b.ctx, bob, at)
	if err != nil || !u.SuspendedAt.Equal(at) || u.User != person(bob) {
		b.Errorf("suspended %+v, %v; want since %v", u, err, at)
	}
	if u, err := b.Suspend(b.ctx, bob, b.tick()); err != nil || !u.SuspendedAt.Equal(at) {
		b.Errorf("suspended again %+v, %v; want since %v", u, err, at)
	}
	notBefore(chat.User{ID: bob, Name: "Bob II"}, 1<<40, chat.SuspendedSecond)
	if u, err := b.UserRecord(b.ctx, bob); err != nil || u.User != person(bob) {
		b.Errorf("a refused token has changed the user to %+v, %v", u, err)
	}
	b.put(chat.UserPut{User: bob, Name: new("Bob as the host says")})
	revoked, err := b.Revoked(b.ctx, []string{ann, bob})
	if err != nil || len(revoked) != 1 || revoked[bob] != chat.SuspendedSecond {
		b.Errorf("revoked %v, %v; want all tokens of bob", revoked, err)
	}
	if !b.standing(room, bob).In {
		b.Error("a suspended user has lost a room")
	}
	if page, _, err := b.History(b.ctx, room, chat.Page{Limit: 10}); err != nil || len(page) != 1 || page[0].Seq != said.Seq {
		b.Errorf("the history is %+v, %v; want the text of the suspended user", page, err)
	}
	b.Store = b.Reopen()
	notBefore(person(bob), 1<<40, chat.SuspendedSecond)
	if u, err := b.Reinstate(b.ctx, bob); err != nil || u.Suspended() {
		b.Errorf("reinstated %+v, %v", u, err)
	}
	_, err = b.Reinstate(b.ctx, bob)
	b.must(err)
	notBefore(person(bob), 6, 5) // the revocation is as before
	_, err = b.Reinstate(b.ctx, "unseen")
	b.refused(err, chat.ErrNotFound)
	u, err = b.Suspend(b.ctx, "unseen", at)
	if err != nil || !u.Suspended() {
		b.Errorf("an unknown user is suspended as %+v, %v", u, err)
	}
	notBefore(person("unseen"), 1<<40, chat.SuspendedSecond)
}

func suspendDeviceCode(b *storeBench) {
	b.known(ann)
	hash, until := []byte("hash"), b.now.Add(time.Hour)
	b.must(b.PutDeviceCode(b.ctx, ann, 5, hash, until))
	_, err := b.Suspend(b.ctx, ann, b.now)
	b.must(err)
	b.refused(b.PutDeviceCode(b.ctx, ann, 1<<40, hash, until), chat.ErrNotFound)
	_, err = b.Reinstate(b.ctx, ann)
	b.must(err)
	_, err = b.TakeDeviceCode(b.ctx, ann, hash, b.now)
	b.refused(err, chat.ErrNotFound)
}

func ensureUsers(b *storeBench) {
	b.known(bob)
	b.must(b.EnsureUsers(b.ctx, []string{ann, bob, cyn}))
	b.must(b.EnsureUsers(b.ctx, []string{ann, bob, cyn}))
	b.must(b.EnsureUsers(b.ctx, nil))
	for user, want := range map[string]chat.User{ann: {ID: ann}, bob: person(bob), cyn: {ID: cyn}} {
		if u, err := b.UserRecord(b.ctx, user); err != nil || u.User != want {
			b.Errorf("%+v, %v; want %+v", u, err, want)
		}
	}
	together(10, func(i int) {
		if err := b.EnsureUsers(b.ctx, []string{member(i), member(i + 1), member(9 - i)}); err != nil {
			b.Error(err)
		}
	})
}
