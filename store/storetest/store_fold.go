package storetest

import (
	"fmt"
	"slices"
	"strings"

	"hongbao/chat"
)

func foldTests() []storeTest {
	return []storeTest{
		{"history is folded, spans are as it was said", foldedHistory},
		{"a page has a size in bytes as folded", foldedBytes},
	}
}

func foldedHistory(b *storeBench) {
	room := b.room(ann, bob)
	d := b.draft(room, ann, "")
	d.Body = []byte(`{"text":"said","data":{"b":1,"a":[2]},"reply_to":1,"mentions":["bob"]}`)
	_, _, err := b.Append(b.ctx, d)
	b.must(err)
	a := b.editing(room, ann, 1, "edited")
	b.amend(a, `{"target":1,"text":"edited"}`)
	b.amend(b.reacting(room, bob, 1, "x", true), `{"target":1,"emoji":"x","on":true,"count":1}`)
	folded := fmt.Sprintf(`{"text":"edited","data":{"b":1,"a":[2]},"reply_to":1,"mentions":["bob"],"edited_at":%d,"reactions":{"x":1}}`,
		a.At.UnixMilli())
	seq := int64(2)
	for name, p := range map[string]chat.Page{
		"newest": {Limit: 10}, "before": {Before: &seq, Limit: 10}, "after": {After: new(int64), Limit: 10},
	} {
		es, _, err := b.History(b.ctx, room, p)
		if b.must(err); string(es[0].Body) != folded {
			b.Errorf("%s: it reads %s, want %s", name, es[0].Body, folded)
		}
	}
	found, err := b.Spans(b.ctx, []chat.Span{{Room: room, After: 0, Through: 3}})
	b.must(err)
	var said []string
	for _, e := range found[room] {
		said = append(said, string(e.Body))
	}
	want := []string{string(d.Body), `{"target":1,"text":"edited"}`, `{"target":1,"emoji":"x","on":true,"count":1}`}
	if !slices.Equal(said, want) {
		b.Errorf("it was said %v, want %v", said, want)
	}
	if e, dup, err := b.Append(b.ctx, d); err != nil || !dup || string(e.Body) != string(d.Body) {
		b.Errorf("its key gives %s, dup %v, %v; want it as it was sent", e.Body, dup, err)
	}
}

// foldedBytes checks that pages are limited by the present size of texts. A long text that was recalled counts as
// small, and a short text that was edited to a long one counts as large.
func foldedBytes(b *storeBench) {
	room, long := b.room(ann), strings.Repeat("x", 1000)
	for _, text := range []string{long, "short", long} {
		_, _, err := b.Append(b.ctx, b.draft(room, ann, text))
		b.must(err)
	}
	before := int64(4)
	fits := func(maxBytes int, want ...int64) {
		b.Helper()
		es, more, err := b.History(b.ctx, room, chat.Page{Before: &before, Limit: 10, MaxBytes: maxBytes})
		b.must(err)
		if got := seqsOf(es); !slices.Equal(got, want) || more != (len(want) < 3) {
			b.Errorf("%d bytes hold %v, more %v; want %v", maxBytes, got, more, want)
		}
	}
	fits(1900, 2, 3)
	b.amend(b.editing(room, ann, 2, long), fmt.Sprintf(`{"target":2,"text":"%s"}`, long))
	fits(1900, 3)
	b.amend(b.amending(chat.KindRecall, room, ann, 3), `{"target":3}`)
	fits(1900, 2, 3)
	b.amend(b.amending(chat.KindRecall, room, ann, 2), `{"target":2}`)
	fits(1900, 1, 2, 3)
}
