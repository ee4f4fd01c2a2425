package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"hongbao/chat"
)

func recallTests() []storeTest {
	return []storeTest{
		{"a recalled text is nowhere", recalledNowhere},
		{"a recall is about one text alone", recallOne},
		{"rules for recalling", whoMayRecall},
		{"a recalled text cannot be amended", recalledForGood},
		{"a text is edited, liked and recalled at once", recallAtOnce},
	}
}

// silence is the body of a recalled text.
const silence = `{"recalled":true}`

// everything reads the room's entries by History and by Spans.
func (b *storeBench) everything(room string) (all []chat.Entry) {
	b.Helper()
	found, err := b.Spans(b.ctx, []chat.Span{{Room: room, After: 0, Through: 1000}})
	b.must(err)
	return append(b.history(room), found[room]...)
}

func recalledNowhere(b *storeBench) {
	room := b.room(ann, bob)
	d := b.draft(room, bob, "secret one")
	_, _, err := b.Append(b.ctx, d)
	b.must(err)
	b.amend(b.editing(room, bob, 1, "secret two"), `{"target":1,"text":"secret two"}`)
	b.amend(b.reacting(room, ann, 1, "👍", true), `{"target":1,"emoji":"👍","on":true,"count":1}`)
	b.amend(b.editing(room, bob, 1, "secret three"), `{"target":1,"text":"secret three"}`)
	e := b.amend(b.amending(chat.KindRecall, room, bob, 1), `{"target":1}`)

	nowhere := func() {
		b.Helper()
		all := b.everything(room)
		again, dup, err := b.Append(b.ctx, d)
		if err != nil || !dup || again.Seq != 1 || string(again.Body) != silence {
			b.Errorf("its key gives %+v %s, dup %v, %v", again, again.Body, dup, err)
		}
		for _, e := range append(all, again) {
			if strings.Contains(string(e.Body), "secret") {
				b.Errorf("entry %d still reads %s", e.Seq, e.Body)
			}
		}
		for _, seq := range []int64{2, 4} {
			b.reads(room, seq, `{"target":1,"recalled":true}`)
		}
		b.reads(room, 1, silence)
		b.reads(room, 3, `{"target":1,"emoji":"👍","on":true,"count":1}`)
	}
	nowhere()
	b.idleAmend(b.amending(chat.KindRecall, room, bob, 1), e.Seq)
	b.idleAmend(b.amending(chat.KindRecall, room, ann, 1), e.Seq)
	b.Store = b.Reopen()
	nowhere()
	b.idleAmend(b.amending(chat.KindRecall, room, ann, 1), e.Seq)
}

func recallOne(b *storeBench) {
	room, other := b.room(ann), b.room(ann)
	for _, r := range []string{room, other} {
		b.say(r, ann) // seq 1
		b.say(r, ann) // seq 2
		for seq := range int64(2) {
			b.amend(b.editing(r, ann, seq+1, "edited"), fmt.Sprintf(`{"target":%d,"text":"edited"}`, seq+1))
			b.amend(b.reacting(r, ann, seq+1, "x", true), fmt.Sprintf(`{"target":%d,"emoji":"x","on":true,"count":1}`, seq+1))
		}
	}
	before := b.history(other)
	b.amend(b.amending(chat.KindRecall, room, ann, 1), `{"target":1}`)
	for i, want := range before {
		if i%2 == 1 { // skips the second text and both reactions
			continue
		}
		b.reads(other, want.Seq, string(want.Body))
	}
	got := body[struct {
		Text      string
		Reactions map[string]int
	}](b, b.history(room)[1])
	if got.Text != "edited" || got.Reactions["x"] != 1 {
		b.Errorf("the other text reads %+v", got)
	}
	b.reads(room, 5, `{"target":2,"text":"edited"}`)
	b.amend(b.reacting(room, ann, 2, "x", false), `{"target":2,"emoji":"x","on":false,"count":0}`)
	b.amend(b.reacting(other, ann, 1, "x", false), `{"target":1,"emoji":"x","on":false,"count":0}`)
}

func whoMayRecall(b *storeBench) {
	room := b.room(ann, bob, cyn)
	for _, who := range []string{ann, bob, cyn, cyn, cyn} {
		b.say(room, who)
	}
	muted := plain
	muted.MutedUntil = b.now.Add(24 * time.Hour)
	b.Stand(room, cyn, muted)
	b.change(b.giving(chat.Admin, room, ann, bob)) // seq 6
	late := func(by string, seq int64) chat.Amendment {
		a := b.amending(chat.KindRecall, room, by, seq)
		a.At = a.At.Add(2 * window)
		return a
	}
	b.unchanged(room, func() {
		_, err := b.Amend(b.ctx, late(cyn, 3))
		b.refused(err, chat.ErrEditWindowOver)
		_, err = b.Amend(b.ctx, b.amending(chat.KindRecall, room, cyn, 1))
		b.refused(err, chat.ErrForbidden)
	})
	b.amend(b.amending(chat.KindRecall, room, cyn, 3), `{"target":3}`) // a muted user may recall
	b.amend(late(bob, 1), `{"target":1}`)                              // also a text of the owner
	b.amend(late(bob, 4), `{"target":4}`)
	b.amend(late(ann, 5), `{"target":5}`)
	b.amend(late(ann, 2), `{"target":2}`)
	for seq := range int64(5) {
		b.reads(room, seq+1, silence)
	}
}

func recalledForGood(b *storeBench) {
	room := b.room(ann)
	b.say(room, ann)
	b.amend(b.reacting(room, ann, 1, "x", true), `{"target":1,"emoji":"x","on":true,"count":1}`)
	b.amend(b.amending(chat.KindRecall, room, ann, 1), `{"target":1}`)
	b.unchanged(room, func() {
		for _, a := range []chat.Amendment{
			b.editing(room, ann, 1, "back"), b.editing(room, ann, 1, "said"), b.editing(room, ann, 1, ""),
			b.reacting(room, ann, 1, "x", true), b.reacting(room, ann, 1, "x", false), b.reacting(room, ann, 1, "y", true),
		} {
			_, err := b.Amend(b.ctx, a)
			b.refused(err, chat.ErrConflict)
		}
	})
}

// recallAtOnce recalls a text during concurrent edits and reactions. Whatever their order, nothing of the text may be
// left.
func recallAtOnce(b *storeBench) {
	const times = 10
	for range 5 {
		room := b.room(ann, bob)
		_, _, err := b.Append(b.ctx, b.draft(room, ann, "secret"))
		b.must(err)
		var asks []chat.Amendment
		for i := range times {
			asks = append(asks, b.editing(room, ann, 1, fmt.Sprint("secret ", i)), b.reacting(room, bob, 1, "👍", i%2 == 0))
		}
		asks = append(asks, b.amending(chat.KindRecall, room, ann, 1), b.amending(chat.KindRecall, room, ann, 1))
		together(len(asks), func(i int) {
			if _, err := b.Amend(b.ctx, asks[i]); err != nil && (asks[i].Kind == chat.KindRecall || !errors.Is(err, chat.ErrConflict)) {
				b.Errorf("%s: %v", asks[i].Kind, err)
			}
		})
		recalls := 0
		for _, e := range b.everything(room) {
			if strings.Contains(string(e.Body), "secret") {
				b.Errorf("entry %d still reads %s", e.Seq, e.Body)
			}
			if e.Kind == chat.KindRecall {
				recalls++
			}
		}
		if b.reads(room, 1, silence); recalls != 2 { // one recall, read by History and by Spans
			b.Errorf("%d recalls", recalls)
		}
		b.balanced()
	}
}
