package storetest

import (
	"errors"
	"time"

	"hongbao/chat"
)

func readTests() []storeTest {
	return []storeTest{
		{"unread counts others' content", unreadCounts},
		{"reading never goes back nor past the end", readForward},
		{"rules for reading", whoMayRead},
	}
}

func unreadCounts(b *storeBench) {
	room := b.privateRoom(ann, bob, cyn, dan)
	unread := func(user string, want, readSeq int64) {
		b.Helper()
		if m := b.membership(room, user); m.Unread != want || m.ReadSeq != readSeq {
			b.Errorf("%s: unread %d after %d, want %d after %d", user, m.Unread, m.ReadSeq, want, readSeq)
		}
	}
	unread(bob, 0, 0)
	b.say(room, ann)   // seq 1
	b.say(room, ann)   // seq 2
	b.leave(room, dan) // 3: a member entry
	b.say(room, cyn)   // seq 4
	unread(ann, 1, 2)
	unread(bob, 3, 0)
	unread(cyn, 0, 4)
	b.say(room, bob) // 5: moves bob's read_seq
	unread(bob, 0, 5)
	unread(ann, 2, 2)

	d := b.draft(room, ann, "a packet")
	d.Kind = chat.KindPacket
	_, _, err := b.Append(b.ctx, d) // seq 6
	b.must(err)
	unread(bob, 1, 5)
	unread(ann, 0, 6)

	_, err = b.Read(b.ctx, room, cyn, 5, b.now)
	b.must(err)
	unread(cyn, 1, 5)
}

func readForward(b *storeBench) {
	room := b.room(ann, bob)
	for range 4 {
		b.say(room, ann)
	}
	for _, step := range []struct {
		seq  int64
		want chat.Reading
	}{
		{0, chat.Reading{Seq: 0, Unread: 4, Members: 2}},
		{-5, chat.Reading{Seq: 0, Unread: 4, Members: 2}},
		{2, chat.Reading{Seq: 2, Unread: 2, Moved: true, Members: 2}},
		{2, chat.Reading{Seq: 2, Unread: 2, Members: 2}},
		{1, chat.Reading{Seq: 2, Unread: 2, Members: 2}},
		{99, chat.Reading{Seq: 4, Unread: 0, Moved: true, Members: 2}},
		{99, chat.Reading{Seq: 4, Unread: 0, Members: 2}},
	} {
		got, err := b.Read(b.ctx, room, bob, step.seq, b.now)
		b.must(err)
		if m := b.membership(room, bob); got != step.want || m.ReadSeq != got.Seq || m.Unread != got.Unread {
			b.Errorf("read %d: %+v, want %+v; membership %+v", step.seq, got, step.want, m)
		}
	}
	b.say(room, ann)
	if m := b.membership(room, bob); m.Unread != 1 {
		b.Errorf("after reading a future seq, the next entry counts as read: %+v", m)
	}
}

func whoMayRead(b *storeBench) {
	room := b.room(ann, bob)
	b.say(room, ann)
	for _, test := range []struct {
		user  string
		stand chat.Standing
		want  error
	}{
		{cyn, chat.Standing{Visible: true}, chat.ErrNotMember},
		{bob, chat.Standing{Ever: true}, chat.ErrNotMember},
		{bob, chat.Standing{Ever: true, Banned: true}, chat.ErrBanned},
		{bob, chat.Standing{Ever: true, In: true, Role: chat.Plain, MutedUntil: b.now.Add(time.Hour)}, nil},
	} {
		if test.stand.Ever {
			b.Stand(room, test.user, test.stand)
		}
		if _, err := b.Read(b.ctx, room, test.user, 1, b.now); !errors.Is(err, test.want) {
			b.Errorf("%s as %+v: error %v, want %v", test.user, test.stand, err, test.want)
		}
	}
	hidden := b.privateRoom(ann)
	if _, err := b.Read(b.ctx, hidden, cyn, 1, b.now); !errors.Is(err, chat.ErrNotFound) {
		b.Errorf("a stranger reads a private room: error %v, want %v", err, chat.ErrNotFound)
	}
	if st := b.standing(hidden, cyn); st != (chat.Standing{}) {
		b.Errorf("a stranger stands to a private room as %+v", st)
	}
}
