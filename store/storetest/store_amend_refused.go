package storetest

import (
	"time"

	"hongbao/chat"
)

func amendRefusedTests() []storeTest {
	return []storeTest{
		{"a refused amendment changes nothing", forbiddenAmend},
		{"entries that cannot be amended", wrongTarget},
	}
}

func forbiddenAmend(b *storeBench) {
	room, private := b.room(ann, bob, cyn), b.privateRoom(ann)
	b.say(room, ann)
	b.say(private, ann)
	b.leave(room, cyn)
	b.known(dan)
	muted := plain
	muted.MutedUntil = b.now.Add(24 * time.Hour)
	b.Stand(room, bob, muted)
	late := b.editing(room, ann, 1, "late")
	late.At = late.At.Add(2 * window)
	b.unchanged(room, func() {
		for _, test := range []struct {
			a    chat.Amendment
			want error
		}{
			{b.editing(room, bob, 1, "x"), chat.ErrMuted},
			{b.reacting(room, bob, 1, "x", true), chat.ErrMuted},
			{b.amending(chat.KindRecall, room, bob, 1), chat.ErrForbidden},
			{b.reacting(room, cyn, 1, "x", true), chat.ErrNotMember},
			{b.amending(chat.KindRecall, room, dan, 1), chat.ErrNotMember},
			{b.reacting(private, dan, 1, "x", true), chat.ErrNotFound},
			{b.reacting("no-room", ann, 1, "x", true), chat.ErrNotFound},
			{late, chat.ErrEditWindowOver},
		} {
			_, err := b.Amend(b.ctx, test.a)
			b.refused(err, test.want)
		}
		b.Stand(room, bob, plain)
		_, err := b.Amend(b.ctx, b.editing(room, bob, 1, "x"))
		b.refused(err, chat.ErrForbidden)
		b.Stand(room, bob, muted)
	})
}

func wrongTarget(b *storeBench) {
	room := b.privateRoom(ann, bob)
	b.say(room, ann)                                                                             // seq 1
	b.leave(room, bob)                                                                           // seq 2
	b.amend(b.editing(room, ann, 1, "edited"), `{"target":1,"text":"edited"}`)                   // seq 3
	b.amend(b.reacting(room, ann, 1, "x", true), `{"target":1,"emoji":"x","on":true,"count":1}`) // seq 4
	b.unchanged(room, func() {
		for seq, want := range map[int64]error{
			0: chat.ErrNotFound, 2: chat.ErrBadRequest, 3: chat.ErrBadRequest, 4: chat.ErrBadRequest, 5: chat.ErrNotFound, 99: chat.ErrNotFound,
		} {
			for _, a := range []chat.Amendment{
				b.editing(room, ann, seq, "x"), b.amending(chat.KindRecall, room, ann, seq), b.reacting(room, ann, seq, "y", true),
			} {
				_, err := b.Amend(b.ctx, a)
				b.refusedField(err, want, "seq")
			}
		}
	})
}
