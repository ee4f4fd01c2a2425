package storetest

import (
	"sync/atomic"

	"hongbao/chat"
)

func replyTests() []storeTest {
	return []storeTest{
		{"a reply is to an entry of its room", replies},
		{"replies to concurrent entries", repliesAtOnce},
	}
}

func (b *storeBench) reply(room string, to int64) chat.Draft {
	d := b.draft(room, ann, "indeed")
	d.ReplyTo = to
	return d
}

func replies(b *storeBench) {
	room, other := b.room(ann), b.room(ann)
	b.say(room, ann)
	b.say(room, ann)
	b.say(other, ann)
	for _, to := range []int64{1, 2} {
		_, _, err := b.Append(b.ctx, b.reply(other, 1))
		b.must(err)
		if e, dup, err := b.Append(b.ctx, b.reply(room, to)); err != nil || dup || e.Seq != to+2 {
			b.Errorf("reply to %d: %+v, dup %v, %v", to, e, dup, err)
		}
	}
	for _, to := range []int64{5, 6, 99, -1} { // 5 is the reply itself
		d := b.reply(room, to)
		b.unchanged(room, func() {
			_, _, err := b.Append(b.ctx, d)
			b.refusedField(err, chat.ErrBadRequest, "reply_to")
		})
		if used, err := b.KeyUsed(b.ctx, ann, d.Key); err != nil || used {
			b.Errorf("a refused reply used its key: %v, %v", used, err)
		}
	}
	d := b.reply("no-room", 1)
	_, _, err := b.Append(b.ctx, d)
	b.refused(err, chat.ErrNotFound)
}

// repliesAtOnce sends texts concurrently, most of which are replies. A reply to an entry that does not exist yet must be
// refused. The seqs of the other texts must have no gaps.
func repliesAtOnce(b *storeBench) {
	const senders = 30
	room := b.room(ann)
	drafts := make([]chat.Draft, senders)
	for i := range drafts {
		drafts[i] = b.reply(room, int64(i%10))
	}
	var made atomic.Int64
	together(senders, func(i int) {
		e, _, err := b.Append(b.ctx, drafts[i])
		if err != nil {
			b.refusedField(err, chat.ErrBadRequest, "reply_to")
			return
		}
		made.Add(1)
		if e.Seq <= drafts[i].ReplyTo {
			b.Errorf("entry %d replies to %d", e.Seq, drafts[i].ReplyTo)
		}
	})
	if n := int64(len(b.history(room))); n != made.Load() || n < senders/10 {
		b.Errorf("%d entries, %d were made", n, made.Load())
	}
	b.balanced()
}
