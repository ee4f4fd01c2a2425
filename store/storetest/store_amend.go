package storetest

import (
	"fmt"
	"time"

	"hongbao/chat"
)

func amendTests() []storeTest {
	return []storeTest{
		{"an edit is an entry of its own", edit},
		{"a reaction is an entry of its own, and there once", react},
		{"amendments are no content", amendNoContent},
	}
}

// window is how long the texts of these tests may be edited.
const window = time.Hour

func (b *storeBench) amending(kind chat.EntryKind, room, by string, target int64) chat.Amendment {
	return chat.Amendment{
		Kind: kind, Room: room, Target: target, By: person(by), At: b.tick(), ID: b.id("entry"), Window: window,
	}
}

func (b *storeBench) editing(room, by string, target int64, text string) chat.Amendment {
	a := b.amending(chat.KindEdit, room, by, target)
	a.Text = text
	return a
}

func (b *storeBench) reacting(room, by string, target int64, emoji string, on bool) chat.Amendment {
	a := b.amending(chat.KindReact, room, by, target)
	a.Emoji, a.On = emoji, on
	return a
}

// amend makes an amendment. It must append one entry at the room's end, with this body.
func (b *storeBench) amend(a chat.Amendment, body string) chat.Entry {
	b.Helper()
	done, err := b.Amend(b.ctx, a)
	b.must(err)
	if !done.Changed || done.Seq != done.Entry.Seq {
		b.Fatalf("%+v has done %+v", a, done)
	}
	last := b.history(a.Room)
	want := chat.Entry{Room: a.Room, Seq: int64(len(last)), ID: a.ID, At: a.At, From: a.By, Kind: a.Kind, Body: []byte(body)}
	for _, e := range []chat.Entry{done.Entry, last[len(last)-1]} {
		if !sameEntry(e, want) || !e.At.Equal(want.At) || e.From != want.From || e.Room != want.Room || e.Key != "" {
			b.Errorf("entry %+v %s, want %+v %s", e, e.Body, want, body)
		}
	}
	b.balanced()
	return done.Entry
}

// idleAmend makes an amendment that must change nothing, and must return this seq.
func (b *storeBench) idleAmend(a chat.Amendment, seq int64) {
	b.Helper()
	b.unchanged(a.Room, func() {
		if done, err := b.Amend(b.ctx, a); err != nil || done.Changed || done.Seq != seq || done.Entry.Seq != 0 {
			b.Errorf("%+v has done %+v, %v; want seq %d", a, done, err, seq)
		}
	})
}

// reads checks the body that History returns for this entry.
func (b *storeBench) reads(room string, seq int64, want string) {
	b.Helper()
	if e := b.history(room)[seq-1]; string(e.Body) != want {
		b.Errorf("entry %d reads %s, want %s", seq, e.Body, want)
	}
}

func edit(b *storeBench) {
	room := b.room(ann, bob)
	b.say(room, ann)
	b.say(room, bob)
	a := b.editing(room, bob, 2, "<new> & \"better\"")
	b.amend(a, `{"target":2,"text":"<new> & \"better\""}`)
	b.reads(room, 2, fmt.Sprintf(`{"text":"<new> & \"better\"","edited_at":%d}`, a.At.UnixMilli()))
	b.reads(room, 1, `{"text":"said"}`)
	b.idleAmend(b.editing(room, bob, 2, "<new> & \"better\""), 3)
	b.idleAmend(b.editing(room, ann, 1, "said"), 1) // never edited
	again := b.editing(room, bob, 2, "said")        // the original text
	b.amend(again, `{"target":2,"text":"said"}`)
	b.reads(room, 2, fmt.Sprintf(`{"text":"said","edited_at":%d}`, again.At.UnixMilli()))
	b.reads(room, 3, `{"target":2,"text":"<new> & \"better\""}`)
	b.idleAmend(b.editing(room, bob, 2, "said"), 4)
	b.Store = b.Reopen()
	b.idleAmend(b.editing(room, bob, 2, "said"), 4)
}

func react(b *storeBench) {
	room := b.room(ann, bob, cyn)
	b.say(room, ann)
	b.say(room, ann)
	b.amend(b.reacting(room, bob, 1, "👍", true), `{"target":1,"emoji":"👍","on":true,"count":1}`)
	b.idleAmend(b.reacting(room, bob, 1, "👍", true), 1)
	b.amend(b.reacting(room, cyn, 1, "👍", true), `{"target":1,"emoji":"👍","on":true,"count":2}`)
	b.amend(b.reacting(room, bob, 1, "a", true), `{"target":1,"emoji":"a","on":true,"count":1}`)
	b.amend(b.reacting(room, bob, 1, "A", true), `{"target":1,"emoji":"A","on":true,"count":1}`)
	b.reads(room, 1, `{"text":"said","reactions":{"A":1,"a":1,"👍":2}}`)
	b.reads(room, 2, `{"text":"said"}`)
	b.amend(b.reacting(room, bob, 1, "👍", false), `{"target":1,"emoji":"👍","on":false,"count":1}`)
	b.idleAmend(b.reacting(room, bob, 1, "👍", false), 1)
	b.leave(room, cyn) // a former member's reactions stay
	b.reads(room, 1, `{"text":"said","reactions":{"A":1,"a":1,"👍":1}}`)
	b.amend(b.reacting(room, bob, 1, "A", false), `{"target":1,"emoji":"A","on":false,"count":0}`)
	b.amend(b.reacting(room, bob, 1, "a", false), `{"target":1,"emoji":"a","on":false,"count":0}`)
	b.reads(room, 1, `{"text":"said","reactions":{"👍":1}}`)

	a := b.editing(room, ann, 1, "edited") // the reactions stay
	b.amend(a, `{"target":1,"text":"edited"}`)
	b.reads(room, 1, fmt.Sprintf(`{"text":"edited","edited_at":%d,"reactions":{"👍":1}}`, a.At.UnixMilli()))
}

func amendNoContent(b *storeBench) {
	room := b.room(ann, bob)
	b.say(room, ann)
	b.amend(b.editing(room, ann, 1, "edited"), `{"target":1,"text":"edited"}`)
	b.amend(b.reacting(room, ann, 1, "x", true), `{"target":1,"emoji":"x","on":true,"count":1}`)
	b.amend(b.amending(chat.KindRecall, room, ann, 1), `{"target":1}`)
	if m := b.membership(room, bob); m.Unread != 1 || m.ReadSeq != 0 || m.Room.LastSeq != 4 {
		b.Errorf("they see %+v, want one unread", m)
	}
	if m := b.membership(room, ann); m.ReadSeq != 1 {
		b.Errorf("after an amendment its author has read %d, want 1 as before", m.ReadSeq)
	}
}
