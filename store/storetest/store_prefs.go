package storetest

import (
	"slices"
	"time"

	"hongbao/chat"
)

func prefsTests() []storeTest {
	return []storeTest{
		{"what a member decides about a room is kept, and is of that member alone", keptPrefs},
		{"an archived room is in the list again with the next content, unless it is silent", archivedUntilContent},
		{"a silence may end by itself, and then it does not keep a room archived", silentForAWhile},
		{"rules for preferences", whoMaySetPrefs},
	}
}

// setPrefs changes a member's Prefs, and checks the Prefs in the answer and in the membership.
func (b *storeBench) setPrefs(c chat.PrefsChange, want chat.Prefs) {
	b.Helper()
	got, err := b.SetPrefs(b.ctx, c)
	b.must(err)
	if m := b.membership(c.Room, c.User); got != want || m.Prefs != want {
		b.Errorf("%s has %+v, and %+v in the membership; want %+v", c.User, got, m.Prefs, want)
	}
}

func keptPrefs(b *storeBench) {
	room := b.room(ann, bob)
	b.say(room, ann)
	of := chat.PrefsChange{Room: room, User: bob}
	b.setPrefs(of, chat.Prefs{})
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Silent: new(true)}, chat.Prefs{Silent: true})
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Pinned: new(true), Archived: new(true)}, chat.Prefs{Silent: true, Pinned: true, Archived: true})
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Archived: new(false)}, chat.Prefs{Silent: true, Pinned: true})
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Silent: new(false)}, chat.Prefs{Pinned: true})
	b.Store = b.Reopen()
	b.setPrefs(of, chat.Prefs{Pinned: true})
	if m := b.membership(room, ann); m.Prefs != (chat.Prefs{}) {
		b.Errorf("ann has the preferences %+v, which bob has set", m.Prefs)
	}
}

func silentForAWhile(b *storeBench) {
	room := b.room(ann, bob)
	silence := chat.PrefsChange{Room: room, User: bob, Silent: new(true), SilentFor: time.Hour, At: b.now}
	until := b.now.Add(time.Hour).Truncate(time.Millisecond).UTC()
	b.setPrefs(silence, chat.Prefs{Silent: true, SilentUntil: until})
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Archived: new(true), At: b.now}, chat.Prefs{Silent: true, SilentUntil: until, Archived: true})
	seq := b.say(room, ann).Seq
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, At: b.now}, chat.Prefs{Silent: true, SilentUntil: until})
	b.must(b.PutSubscription(b.ctx, subscription(bob, 1), 5))
	for now, told := range map[time.Time]bool{until.Add(-time.Millisecond): false, until: true, until.Add(time.Hour): true} {
		users, err := b.UnreadBy(b.ctx, chat.Unread{Room: room, Seq: seq, Sender: ann, Now: now, Limit: 9})
		b.must(err)
		a := chat.Audience{Room: room, Seq: seq, Now: now, Limit: 9}
		if want := map[bool][]string{true: {bob}}[told]; !slices.Equal(users, want) {
			b.Errorf("at %v %q have not read, want %q", now, users, want)
		}
		if told {
			b.subscribed(a, subscription(bob, 1))
		} else {
			b.subscribed(a)
		}
	}
	silence.SilentFor = 0
	b.setPrefs(silence, chat.Prefs{Silent: true})
	silence.SilentFor = time.Hour
	b.setPrefs(silence, chat.Prefs{Silent: true, SilentUntil: until})
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Silent: new(false), At: b.now}, chat.Prefs{})
}

func archivedUntilContent(b *storeBench) {
	room, empty := b.privateRoom(ann, bob, cyn), b.room(ann, bob)
	b.setPrefs(chat.PrefsChange{Room: empty, User: bob, Archived: new(true)}, chat.Prefs{Archived: true})
	b.say(room, ann)
	archive := chat.PrefsChange{Room: room, User: bob, Archived: new(true)}
	b.setPrefs(archive, chat.Prefs{Archived: true})
	b.leave(room, cyn) // a member entry
	is := func(want chat.Prefs) {
		b.Helper()
		if m := b.membership(room, bob); m.Prefs != want {
			b.Errorf("bob has %+v, want %+v", m.Prefs, want)
		}
	}
	is(chat.Prefs{Archived: true})
	b.say(room, ann)
	is(chat.Prefs{})
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Silent: new(true)}, chat.Prefs{Silent: true}) // this does not archive the room again
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Silent: new(false)}, chat.Prefs{})
	archive.Silent = new(true)
	b.setPrefs(archive, chat.Prefs{Silent: true, Archived: true})
	b.say(room, ann)
	is(chat.Prefs{Silent: true, Archived: true})
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Silent: new(false)}, chat.Prefs{}) // the room is not silent any more, so the new text has taken it out of the archive
}

func whoMaySetPrefs(b *storeBench) {
	room := b.room(ann, bob, cyn)
	b.Stand(room, cyn, chat.Standing{Ever: true, Banned: true})
	b.leave(room, bob)
	for user, want := range map[string]error{dan: chat.ErrNotMember, bob: chat.ErrNotMember, cyn: chat.ErrBanned} {
		_, err := b.SetPrefs(b.ctx, chat.PrefsChange{Room: room, User: user, Pinned: new(true)})
		b.refused(err, want)
	}
	_, err := b.SetPrefs(b.ctx, chat.PrefsChange{Room: b.privateRoom(ann), User: dan, Pinned: new(true)})
	b.refused(err, chat.ErrNotFound)
}
