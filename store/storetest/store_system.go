package storetest

import (
	"errors"

	"hongbao/chat"
)

func systemTests() []storeTest {
	return []storeTest{
		{"the system sends and changes without being a member", systemActs},
		{"the system hands a room over, and never leaves it without an owner", systemHandsOver},
		{"the system does nothing in a deleted room", systemInDeletedRoom},
	}
}

// bySystem returns the change as one of chat.System.
func bySystem(c chat.Change) chat.Change {
	c.By = chat.System
	return c
}

func (b *storeBench) systemDraft(room string) chat.Draft {
	d := b.draft(room, ann, "closed at noon")
	d.From = chat.System
	return d
}

func systemActs(b *storeBench) {
	room := b.privateRoom(ann, bob)
	b.known(cyn)
	b.leave(room, bob)
	d := b.systemDraft(room)
	e, dup, err := b.Append(b.ctx, d)
	b.must(err)
	if dup || e.From != chat.System || b.standing(room, chat.System.ID) != (chat.Standing{}) {
		b.Errorf("the entry %+v, dup %t; the standing %+v", e, dup, b.standing(room, chat.System.ID))
	}
	if again, dup, err := b.Append(b.ctx, d); err != nil || !dup || again.Seq != e.Seq {
		b.Errorf("repeated: %+v, dup %t, %v; want the entry %d again", again, dup, err, e.Seq)
	}
	if m := b.membership(room, ann); m.Unread != 1 {
		b.Errorf("%d are unread, want the entry of the system", m.Unread)
	}
	done := b.change(bySystem(b.wanted(chat.Invite, room, ann, bob, cyn))) // after bob has left, no member can invite bob
	b.moved(done, []string{bob, cyn}, []string{bob, cyn}, nil)
	if e := done.Entries[0]; e.From != chat.System || e.Kind != chat.KindMember {
		b.Errorf("the invitation made the entry %+v, want one from the system", e)
	}
	b.moved(b.change(bySystem(b.wanted(chat.Ban, room, ann, bob))), []string{bob}, nil, []string{bob})

	said := b.say(room, ann)
	recall := b.amending(chat.KindRecall, room, ann, said.Seq)
	recall.By, recall.At = chat.System, said.At.Add(2*window) // the edit window does not limit the system
	b.must(func() error { _, err := b.Amend(b.ctx, recall); return err }())
	b.balanced()
}

func systemHandsOver(b *storeBench) {
	room := b.room(ann, bob, cyn)
	for _, kind := range []chat.ChangeKind{chat.Kick, chat.Ban, chat.SetRole} {
		c := bySystem(b.wanted(kind, room, ann, ann))
		c.Role = chat.Plain
		b.unchanged(room, func() {
			_, err := b.Change(b.ctx, c)
			b.refusedField(err, chat.ErrForbidden, "user")
		})
	}
	done := b.change(bySystem(b.giving(chat.Owner, room, ann, bob, ann)))
	b.moved(done, []string{bob, ann}, nil, nil)
	b.stands(room, bob, chat.Standing{Ever: true, In: true, Role: chat.Owner})
	b.stands(room, ann, chat.Standing{Ever: true, In: true, Role: chat.Admin})
	for _, users := range [][]string{{cyn}, {cyn, ann}} { // the last user must be the owner: cyn never was, and ann is not any more
		b.unchanged(room, func() {
			_, err := b.Change(b.ctx, bySystem(b.giving(chat.Owner, room, ann, users...)))
			b.refused(err, chat.ErrConflict)
		})
	}
}

func systemInDeletedRoom(b *storeBench) {
	for _, room := range []string{b.room(ann, bob), b.privateRoom(ann, bob)} {
		said := b.say(room, ann)
		b.change(bySystem(b.wanted(chat.DeleteRoom, room, ann)))
		if _, _, err := b.Append(b.ctx, b.systemDraft(room)); !errors.Is(err, chat.ErrNotFound) {
			b.Errorf("a text in a deleted room: %v", err)
		}
		recall := b.amending(chat.KindRecall, room, ann, said.Seq)
		recall.By = chat.System
		if _, err := b.Amend(b.ctx, recall); !errors.Is(err, chat.ErrNotFound) {
			b.Errorf("a recall in a deleted room: %v", err)
		}
		if _, err := b.Change(b.ctx, bySystem(b.wanted(chat.Invite, room, ann, bob))); !errors.Is(err, chat.ErrNotFound) {
			b.Errorf("an invitation into a deleted room: %v", err)
		}
	}
	if _, _, err := b.Append(b.ctx, b.systemDraft("no-such-room")); !errors.Is(err, chat.ErrNotFound) {
		b.Errorf("a text in no room: %v", err)
	}
}
