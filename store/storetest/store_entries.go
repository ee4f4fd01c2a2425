package storetest

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
)

func appendTests() []storeTest {
	return []storeTest{
		{"an entry is kept as it was given", entryKept},
		{"seqs are dense under many senders", denseSeqs},
		{"a refused entry uses no seq and does not affect others", refusedBurnsNothing},
		{"rules for sending", whoMaySend},
		{"a repeated key returns the first entry for ever", entryTwice},
		{"the same key at the same time makes one entry", entryTwiceAtOnce},
		{"a key with other content changes nothing", keyReused},
	}
}

func entryKept(b *storeBench) {
	room := b.room(ann)
	d := b.draft(room, ann, "<b>\"恭喜\" & \\ 发财\n")
	e, dup, err := b.Append(b.ctx, d)
	b.must(err)
	want := chat.Entry{Room: room, Seq: 1, ID: d.ID, At: d.At, From: d.From, Kind: chat.KindText, Key: d.Key, Body: d.Body}
	if dup || !reflect.DeepEqual(e, want) {
		b.Errorf("appended %+v, dup %v; want %+v", e, dup, want)
	}
	if es := b.history(room); !reflect.DeepEqual(es, []chat.Entry{want}) {
		b.Errorf("kept %+v, want %+v", es, want)
	}
}

func denseSeqs(b *storeBench) {
	const senders, each = 50, 8
	rooms := []string{b.room(ann), b.room(ann)}
	drafts := make([][]chat.Draft, senders)
	for i := range senders {
		for _, room := range rooms {
			b.join(room, member(i))
		}
		for n := range each {
			drafts[i] = append(drafts[i], b.draft(rooms[n%2], member(i), "hello"))
		}
	}
	var mu sync.Mutex
	told := map[string][]chat.Entry{}
	together(senders, func(i int) {
		for _, d := range drafts[i] {
			e, dup, err := b.Append(b.ctx, d)
			if err != nil || dup || e.ID != d.ID {
				b.Errorf("append: %+v, dup %v, %v", e, dup, err)
			}
			mu.Lock()
			told[e.Room] = append(told[e.Room], e)
			mu.Unlock()
		}
	})
	for _, room := range rooms {
		slices.SortFunc(told[room], func(a, b chat.Entry) int { return int(a.Seq - b.Seq) })
		kept := b.history(room)
		for i, e := range kept {
			if e.Seq != int64(i+1) {
				b.Fatalf("seq %d at place %d", e.Seq, i+1)
			}
		}
		if len(kept) != senders*each/2 || !reflect.DeepEqual(kept, told[room]) {
			b.Errorf("%d entries are stored, %d were returned, or they differ", len(kept), len(told[room]))
		}
	}
}

func refusedBurnsNothing(b *storeBench) {
	const senders, each = 30, 6
	room := b.room(ann)
	first := b.draft(room, ann, "first")
	_, _, err := b.Append(b.ctx, first)
	b.must(err)
	drafts := make([][]chat.Draft, senders)
	for i := range senders {
		if i%3 != 0 { // every third user never joins
			b.join(room, member(i))
		}
		for range each {
			drafts[i] = append(drafts[i], b.draft(room, member(i), "hello"))
		}
	}
	together(senders, func(i int) {
		for _, d := range drafts[i] {
			want := error(nil)
			switch i % 3 {
			case 0:
				want = chat.ErrNotMember
			case 1:
				d.From, d.Key, want = first.From, first.Key, chat.ErrKeyReused
			}
			if _, _, err := b.Append(b.ctx, d); !errors.Is(err, want) {
				b.Errorf("got error %v, want %v", err, want)
			}
		}
	})
	kept := b.history(room)
	if want := int64(1 + senders/3*each); int64(len(kept)) != want || kept[len(kept)-1].Seq != want {
		b.Errorf("%d entries, the last has seq %d; want %d without gaps", len(kept), kept[len(kept)-1].Seq, want)
	}
}

func whoMaySend(b *storeBench) {
	room := b.room(ann, bob)
	until := b.now.Add(time.Hour)
	in := chat.Standing{Ever: true, In: true, Role: chat.Plain}
	muted := in
	muted.MutedUntil = until
	tests := []struct {
		name  string
		stand chat.Standing
		at    time.Time
		want  error
	}{
		{"member", in, b.now, nil},
		{"muted", muted, until.Add(-time.Millisecond), chat.ErrMuted},
		{"mute over", muted, until, nil},
		{"kicked", chat.Standing{Ever: true}, b.now, chat.ErrNotMember},
		{"banned", chat.Standing{Ever: true, Banned: true}, b.now, chat.ErrBanned},
	}
	seq := int64(0)
	for _, test := range tests {
		b.Stand(room, bob, test.stand)
		d := b.draft(room, bob, test.name)
		d.At = test.at
		_, _, err := b.Append(b.ctx, d)
		if !errors.Is(err, test.want) {
			b.Errorf("%s: got error %v, want %v", test.name, err, test.want)
		}
		used, err := b.KeyUsed(b.ctx, bob, d.Key)
		if b.must(err); used != (test.want == nil) {
			b.Errorf("%s: key used %v", test.name, used)
		}
		if test.want == nil {
			seq++
		}
	}
	if r, err := b.Room(b.ctx, room); err != nil || r.LastSeq != seq {
		b.Errorf("last seq %d, %v; want %d", r.LastSeq, err, seq)
	}
}

func entryTwice(b *storeBench) {
	room := b.room(ann, bob)
	d := b.draft(room, bob, "hello")
	first, _, err := b.Append(b.ctx, d)
	b.must(err)
	b.say(room, ann)
	again := d
	again.ID, again.At = b.id("entry"), b.tick()
	same := func(when string, s chat.Store) {
		b.Helper()
		e, dup, err := s.Append(b.ctx, again)
		if err != nil || !dup || !reflect.DeepEqual(e, first) {
			b.Errorf("%s: %+v, dup %v, %v; want the first entry %+v", when, e, dup, err, first)
		}
	}
	same("at once", b.Store)
	b.leave(room, bob)
	same("after leaving", b.Store)
	b.Stand(room, bob, chat.Standing{Ever: true, Banned: true})
	same("banned", b.Store)
	if seqs := seqsOf(b.history(room)); !slices.Equal(seqs, []int64{1, 2}) {
		b.Errorf("seqs %v, want two", seqs)
	}
	same("after reopening", b.Reopen())
}

func entryTwiceAtOnce(b *storeBench) {
	room := b.room(ann)
	d := b.draft(room, ann, "hello")
	var mu sync.Mutex
	fresh := 0
	together(20, func(int) {
		e, dup, err := b.Append(b.ctx, d)
		if err != nil || e.Seq != 1 {
			b.Errorf("seq %d, %v", e.Seq, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if !dup {
			fresh++
		}
	})
	if r, err := b.Room(b.ctx, room); err != nil || r.LastSeq != 1 || fresh != 1 {
		b.Errorf("last seq %d, %v; %d calls say that they made it", r.LastSeq, err, fresh)
	}
}

func keyReused(b *storeBench) {
	room, other := b.room(ann), b.room(ann)
	d := b.draft(room, ann, "hello")
	_, _, err := b.Append(b.ctx, d)
	b.must(err)
	for _, change := range []func(*chat.Draft){
		func(d *chat.Draft) { d.Hash = []byte("other content") },
		func(d *chat.Draft) { d.Room, d.Hash = other, []byte("another room") },
	} {
		reused := d
		reused.ID = b.id("entry")
		change(&reused)
		_, _, err := b.Append(b.ctx, reused)
		b.refused(err, chat.ErrKeyReused)
	}
	seqs, err := b.LastSeqs(b.ctx, []string{room, other})
	b.must(err)
	if seqs[room] != 1 || seqs[other] != 0 {
		b.Errorf("last seqs %v", seqs)
	}
}
