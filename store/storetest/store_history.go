package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"hongbao/chat"
)

func historyTests() []storeTest {
	return []storeTest{
		{"pages of history", historyPages},
		{"history in any page size", historyWalk},
		{"a page has a size in bytes", historyBytes},
		{"spans", spans},
	}
}

func historyPages(b *storeBench) {
	room, empty := b.room(ann), b.room(ann)
	for range 5 {
		b.say(room, ann)
	}
	at := func(seq int64) *int64 { return &seq }
	tests := []struct {
		name string
		room string
		page chat.Page
		want []int64
		more bool
	}{
		{"newest", room, chat.Page{Limit: 2}, []int64{4, 5}, true},
		{"newest, just all", room, chat.Page{Limit: 5}, []int64{1, 2, 3, 4, 5}, false},
		{"newest, more than all", room, chat.Page{Limit: 9}, []int64{1, 2, 3, 4, 5}, false},
		{"before", room, chat.Page{Before: at(4), Limit: 2}, []int64{2, 3}, true},
		{"before, to the start", room, chat.Page{Before: at(4), Limit: 3}, []int64{1, 2, 3}, false},
		{"before the first", room, chat.Page{Before: at(1), Limit: 3}, []int64{}, false},
		{"before 0", room, chat.Page{Before: at(0), Limit: 3}, []int64{}, false},
		{"before a future seq", room, chat.Page{Before: at(99), Limit: 2}, []int64{4, 5}, true},
		{"after 0", room, chat.Page{After: at(0), Limit: 2}, []int64{1, 2}, true},
		{"after", room, chat.Page{After: at(2), Limit: 2}, []int64{3, 4}, true},
		{"after, to the end", room, chat.Page{After: at(2), Limit: 3}, []int64{3, 4, 5}, false},
		{"after the last", room, chat.Page{After: at(5), Limit: 3}, []int64{}, false},
		{"empty room", empty, chat.Page{Limit: 3}, []int64{}, false},
		{"no room", "no-room", chat.Page{Limit: 3}, []int64{}, false},
	}
	for _, test := range tests {
		es, more, err := b.History(b.ctx, test.room, test.page)
		b.must(err)
		if got := seqsOf(es); !slices.Equal(got, test.want) || more != test.more {
			b.Errorf("%s: %v, more %v; want %v, %v", test.name, got, more, test.want, test.more)
		}
	}
}

func historyWalk(b *storeBench) {
	room := b.room(ann)
	var want []int64
	for range 11 {
		want = append(want, b.say(room, ann).Seq)
	}
	for limit := 1; limit <= 12; limit++ {
		var up, down []int64
		after, before := new(int64), (*int64)(nil)
		for more, pages := true, 0; more && pages < 20; pages++ {
			es, on, err := b.History(b.ctx, room, chat.Page{After: after, Limit: limit})
			b.must(err)
			up = append(up, seqsOf(es)...)
			if more = on; more {
				after = &es[len(es)-1].Seq
			}
		}
		for more, pages := true, 0; more && pages < 20; pages++ {
			es, on, err := b.History(b.ctx, room, chat.Page{Before: before, Limit: limit})
			b.must(err)
			down = append(seqsOf(es), down...)
			if more = on; more {
				before = &es[0].Seq
			}
		}
		if !slices.Equal(up, want) || !slices.Equal(down, want) {
			b.Errorf("pages of %d: upwards %v, downwards %v", limit, up, down)
		}
	}
}

func historyBytes(b *storeBench) {
	room := b.room(ann)
	for i := range 4 {
		_, _, err := b.Append(b.ctx, b.draft(room, ann, fmt.Sprint(i, strings.Repeat("x", 1000))))
		b.must(err)
	}
	one := len(b.history(room)[0].Body)
	for _, test := range []struct {
		page chat.Page
		want []int64
		more bool
	}{
		{chat.Page{Limit: 4, MaxBytes: 1}, []int64{4}, true},
		{chat.Page{Limit: 4, MaxBytes: 2*one - 1}, []int64{4}, true},
		{chat.Page{Limit: 4, MaxBytes: 2 * one}, []int64{3, 4}, true},
		{chat.Page{Limit: 4, MaxBytes: 4 * one}, []int64{1, 2, 3, 4}, false},
		{chat.Page{Limit: 4, MaxBytes: 2 * one, After: new(int64)}, []int64{1, 2}, true},
	} {
		es, more, err := b.History(b.ctx, room, test.page)
		b.must(err)
		if got := seqsOf(es); !slices.Equal(got, test.want) || more != test.more {
			b.Errorf("%d bytes: %v, more %v; want %v, %v", test.page.MaxBytes, got, more, test.want, test.more)
		}
	}
}

func spans(b *storeBench) {
	long, short, empty := b.room(ann), b.room(ann), b.room(ann)
	for range 6 {
		b.say(long, ann)
	}
	b.say(short, ann)
	got, err := b.Spans(b.ctx, []chat.Span{
		{Room: long, After: 2, Through: 4}, {Room: short, After: 0, Through: 99}, {Room: empty, After: 0, Through: 9},
		{Room: "no-room", After: 0, Through: 9},
	})
	b.must(err)
	want := map[string][]chat.Entry{long: b.history(long)[2:4], short: b.history(short)}
	for room, entries := range got {
		if len(entries) == 0 {
			delete(got, room) // an empty list may be absent
		}
	}
	if !reflect.DeepEqual(got, want) {
		b.Errorf("spans %+v, want %+v", got, want)
	}
	if got, err := b.Spans(b.ctx, []chat.Span{{Room: long, After: 6, Through: 6}}); err != nil || len(got[long]) != 0 {
		b.Errorf("an empty span holds %+v, %v", got, err)
	}
}
