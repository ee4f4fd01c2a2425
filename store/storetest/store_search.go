package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"hongbao/chat"
	"hongbao/chat/words"
	"hongbao/store/enginetest"
)

func searchTests() []storeTest {
	return []storeTest{
		{"a search finds words in the user's rooms, the newest first", foundWords},
		{"a search is narrowed by room, sender, kind and time", narrowedSearch},
		{"an edit and a recall change what is found", foundAmended},
		{"a search that the index is far behind says so", searchBehind},
		{"a page of a search is bounded", boundedSearch},
		{"the newest entries outside the index are found first", newestOutside},
		{"candidates of one room hide no entry of another", hiddenByNothing},
		{"a search looks at few entries", boundedLook},
		{"a search for what few texts have is one page, whatever word all have", narrowedLook},
		{"a transaction adds few words to the index", boundedIndexing},
		{"entries at one moment are found once, whatever the pages", foundAtOnce},
		{"a search finds what a plain scan finds", searchModel},
	}
}

// write appends a text.
func (b *storeBench) write(room, from, text string) chat.Entry {
	b.Helper()
	e, _, err := b.Append(b.ctx, b.draft(room, from, text))
	b.must(err)
	return e
}

// greet appends an entry of a packet with this greeting.
func (b *storeBench) greet(room, from, greeting string) chat.Entry {
	b.Helper()
	d := b.draft(room, from, "")
	body, err := chat.Body(map[string]string{"greeting": greeting})
	b.must(err)
	d.Kind, d.Body = chat.KindPacket, body
	e, _, err := b.Append(b.ctx, d)
	b.must(err)
	return e
}

// attach appends a text whose body names a file.
func (b *storeBench) attach(room, from, text, name string) chat.Entry {
	b.Helper()
	d := b.draft(room, from, text)
	body, err := chat.Body(map[string]any{"text": text, "files": []chat.File{{ID: "f", Name: name}}})
	b.must(err)
	d.Body = body
	e, _, err := b.Append(b.ctx, d)
	b.must(err)
	return e
}

// index puts all entries of the rooms into the index.
func (b *storeBench) index(rooms ...string) {
	b.Helper()
	for len(rooms) > 0 {
		var err error
		rooms, err = b.IndexEntries(b.ctx, rooms, 3)
		b.must(err)
	}
}

// searched reads all pages of this size of a search, and returns the entries by room and seq. It checks the places of the words.
func (b *storeBench) searched(query string, s chat.Search, limit int) (found []string) {
	b.Helper()
	s.Query, s.Limit = words.ParseQuery(query), limit
	for pages, more := 0, true; more; pages++ {
		page, err := b.Search(b.ctx, s)
		if b.must(err); len(page.Hits) > limit || pages > 1000 {
			b.Fatalf("page %d of %d has %d hits", pages, limit, len(page.Hits))
		}
		for _, h := range page.Hits {
			found = append(found, spot(h.Entry))
			if want := s.Query.Find(h.Entry.Searched()); len(want) == 0 || !slices.Equal(h.Places, want) {
				b.Errorf("%q is in %q at %v, not at %v", query, h.Entry.Searched(), want, h.Places)
			}
		}
		s.Next, more = page.More, page.More != ""
	}
	return found
}

func spot(e chat.Entry) string { return fmt.Sprint(e.Room, " ", e.Seq) }

// wantFound searches in pages of several sizes.
func (b *storeBench) wantFound(query string, s chat.Search, want ...chat.Entry) {
	b.Helper()
	spots := []string{}
	for _, e := range want {
		spots = append(spots, spot(e))
	}
	for _, limit := range []int{1, 2, 20} {
		if got := b.searched(query, s, limit); !slices.Equal(got, spots) {
			b.Errorf("%q, %+v, in pages of %d: found %q, want %q", query, s, limit, got, spots)
		}
	}
}

// indexed runs the check before, while and after the rooms are put into the index, and after a restart.
func (b *storeBench) indexed(check func(), rooms ...string) {
	b.Helper()
	check()
	_, err := b.IndexEntries(b.ctx, rooms, 2)
	b.must(err)
	check()
	b.index(rooms...)
	b.index(rooms...)
	check()
	b.Store = b.Reopen()
	check()
}

func foundWords(b *storeBench) {
	one, two, others := b.room(ann, bob), b.privateRoom(ann, bob), b.room(cyn)
	first := b.write(one, ann, "Happy New Year")
	wish := b.write(two, bob, "新年快乐，恭喜发财")
	b.write(others, cyn, "happy new year 新年快乐")
	packet := b.greet(two, ann, "happy 新年")
	last := b.write(one, bob, "A new happy face, new hope")
	b.indexed(func() {
		user := chat.Search{User: ann}
		b.wantFound("happy", user, last, packet, first)
		b.wantFound("new HAPPY", user, last, first)
		b.wantFound(`"happy new"`, user, first)
		b.wantFound("hap", user)
		b.wantFound("年", user, packet, wish)
		b.wantFound("新年 发财", user, wish)
		b.wantFound("年发", user)
		b.wantFound("nobody says this", user)
		b.wantFound("happy", chat.Search{User: dan})
		b.wantFound("said by recall edit member", user)
	}, one, two, others)
	b.leave(one, ann)
	b.wantFound("happy", chat.Search{User: ann}, packet)
}

func narrowedSearch(b *storeBench) {
	one, two := b.room(ann, bob), b.room(ann, bob)
	old := b.write(one, ann, "word old")
	packet := b.greet(one, bob, "word")
	b.now = b.now.Add(24 * time.Hour)
	young, other := b.write(one, bob, "young word"), b.write(two, bob, "another word")
	named := b.attach(two, ann, "see the file", "minutes.pdf")
	b.indexed(func() {
		b.wantFound("minutes", chat.Search{User: ann}, named)
		b.wantFound("file", chat.Search{User: ann, Kind: chat.KindText, Files: true}, named)
		b.wantFound("word", chat.Search{User: ann, Kind: chat.KindText, Files: true})
		b.wantFound("word", chat.Search{User: ann, Room: one}, young, packet, old)
		b.wantFound("word", chat.Search{User: ann, From: bob}, other, young, packet)
		b.wantFound("word", chat.Search{User: ann, Kind: chat.KindPacket}, packet)
		b.wantFound("word", chat.Search{User: ann, Kind: chat.KindText}, other, young, old)
		b.wantFound("word", chat.Search{User: ann, After: young.At}, other, young)
		b.wantFound("word", chat.Search{User: ann, Before: young.At}, packet, old)
		b.wantFound("word", chat.Search{User: ann, After: packet.At, Before: other.At, Room: one}, young, packet)
		b.wantFound("word", chat.Search{User: cyn, Room: one})
		b.wantFound("word", chat.Search{User: chat.System.ID, Room: one}, young, packet, old)
		b.wantFound("word", chat.Search{User: ann, Room: "unknown"})
	}, one, two)
	done, err := b.Change(b.ctx, b.wanted(chat.DeleteRoom, one, ann))
	if b.must(err); !done.Changed {
		b.Fatal("not deleted")
	}
	b.wantFound("word", chat.Search{User: ann}, other)
	b.wantFound("word", chat.Search{User: chat.System.ID, Room: one})
	if _, err := b.Search(b.ctx, chat.Search{User: ann, Query: words.ParseQuery("word"), Limit: 1, Next: "forged"}); err == nil {
		b.Error("a forged cursor is accepted")
	}
}

func foundAmended(b *storeBench) {
	for _, when := range []string{"before", "after"} {
		room := b.room(ann, bob)
		in := chat.Search{User: ann, Room: room}
		edited, recalled, kept := b.write(room, ann, "first words 恭喜"), b.write(room, bob, "first words"), b.write(room, bob, "first words")
		if when == "after" {
			b.index(room)
		}
		_, err := b.Amend(b.ctx, b.editing(room, ann, edited.Seq, "second words"))
		b.must(err)
		_, err = b.Amend(b.ctx, b.amending(chat.KindRecall, room, bob, recalled.Seq))
		b.must(err)
		_, err = b.Amend(b.ctx, b.reacting(room, bob, kept.Seq, "👍", true))
		b.must(err)
		b.indexed(func() {
			b.wantFound("first", in, kept)
			b.wantFound("喜", in)
			b.wantFound("second", in, edited)
			b.wantFound("words", in, kept, edited)
		}, room)
		_, err = b.Amend(b.ctx, b.editing(room, ann, edited.Seq, "first again"))
		b.must(err)
		b.wantFound("first", in, kept, edited)
		b.wantFound("second", in)
	}
}

func searchBehind(b *storeBench) {
	room := b.room(ann)
	var all []chat.Entry
	for n := range 250 {
		all = append(all, b.write(room, ann, fmt.Sprint("word ", n)))
	}
	slices.Reverse(all)
	search := func() chat.Found {
		found, err := b.Search(b.ctx, chat.Search{User: ann, Query: words.ParseQuery("word"), Limit: 20})
		b.must(err)
		return found
	}
	if f := search(); !f.Behind || !slices.Equal(f.Unindexed, []string{room}) || len(f.Hits) != 20 || f.Hits[0].Entry.Seq != all[0].Seq {
		b.Errorf("with a tail of 250 entries: behind %t, %d hits", f.Behind, len(f.Hits))
	}
	b.index(room)
	if f := search(); f.Behind || len(f.Unindexed) > 0 {
		b.Error("behind, though all is in the index")
	}
	if got := b.searched("word", chat.Search{User: ann}, 100); len(got) != len(all) || got[249] != spot(all[249]) {
		b.Errorf("%d entries found of %d", len(got), len(all))
	}
}

func boundedSearch(b *storeBench) {
	room := b.room(ann)
	var all []chat.Entry
	for range 5 {
		all = append([]chat.Entry{b.write(room, ann, "word "+strings.Repeat("x", 1000))}, all...)
	}
	b.indexed(func() { b.wantFound("word", chat.Search{User: ann, MaxBytes: 2500}, all...) }, room)
	for most, want := range map[int]int{1: 1, 2500: 2, 1 << 20: 5} {
		found, err := b.Search(b.ctx, chat.Search{User: ann, Query: words.ParseQuery("word"), Limit: 20, MaxBytes: most})
		if b.must(err); len(found.Hits) != want || (found.More == "") != (want == 5) {
			b.Errorf("%d hits in %d bytes, want %d; next %q", len(found.Hits), most, want, found.More)
		}
	}
}

// newestOutside has rooms with very many entries that are not in the index, and one with a single one.
func newestOutside(b *storeBench) {
	var busy []string
	for range 12 {
		busy = append(busy, b.room(ann, bob))
	}
	quiet := b.room(ann, bob)
	d := b.draft(busy[0], bob, "noise")
	for n := range 12 * 200 {
		d.ID, d.Key, d.Room = b.id("entry"), fmt.Sprint("noise ", n), busy[n%12]
		_, _, err := b.Append(b.ctx, d)
		b.must(err)
	}
	b.wantFound("once", chat.Search{User: ann}, b.write(quiet, bob, "said once"))
	old := b.room(ann)
	b.write(old, ann, "old "+strings.Repeat("x", 300<<10))
	b.wantFound("young", chat.Search{User: ann, Room: old}, b.write(old, ann, "young"))
	if found, err := b.Search(b.ctx, chat.Search{User: ann, Room: old, Query: words.ParseQuery("old"), Limit: 1}); err != nil || !found.Behind {
		b.Errorf("a large text outside the index: behind %t, %v", found.Behind, err)
	}
	b.index(append(busy, quiet, old)...)
	if found, err := b.Search(b.ctx, chat.Search{User: ann, Query: words.ParseQuery("noise"), Limit: 1}); err != nil || found.Behind || len(found.Unindexed) > 0 {
		b.Errorf("after all is indexed: behind %t, %q, %v", found.Behind, found.Unindexed, err)
	}
}

// hiddenByNothing has an entry behind newer ones that have its words in another order, and an older entry of another room.
func hiddenByNothing(b *storeBench) {
	quiet, busy := b.room(ann), b.room(ann)
	oldest, old := b.write(quiet, ann, "new year"), b.write(busy, ann, "new year")
	for range 30 {
		b.write(busy, ann, "year new")
	}
	b.indexed(func() { b.wantFound(`"new year"`, chat.Search{User: ann}, old, oldest) }, quiet, busy)
}

// boundedLook searches for words that stand in another order in all texts but one.
func boundedLook(b *storeBench) {
	room := b.room(ann)
	first := b.write(room, ann, "new year")
	for range 1100 {
		b.write(room, ann, "year new")
	}
	b.index(room)
	found, err := b.Search(b.ctx, chat.Search{User: ann, Query: words.ParseQuery(`"new year"`), Limit: 100})
	if err != nil || len(found.Hits) != 0 || found.More == "" {
		b.Errorf("%d hits, next %q, %v; want a page without hits that has a next one", len(found.Hits), found.More, err)
	}
	if got := b.searched(`"new year"`, chat.Search{User: ann}, 100); !slices.Equal(got, []string{spot(first)}) {
		b.Errorf("found %q", got)
	}
}

// narrowedLook searches for a frequent word in texts of a user that has said it once, in those with files, and in packets.
func narrowedLook(b *storeBench) {
	room := b.room(ann, bob)
	said, named, packet := b.write(room, bob, "word"), b.attach(room, ann, "word", "a.pdf"), b.greet(room, ann, "word")
	for range 1100 {
		b.write(room, ann, "word")
	}
	b.index(room)
	for want, s := range map[string]chat.Search{spot(said): {From: bob}, spot(named): {Files: true, Kind: chat.KindText}, spot(packet): {Kind: chat.KindPacket, From: ann}} {
		s.User, s.Query, s.Limit = ann, words.ParseQuery("word"), 100
		found, err := b.Search(b.ctx, s)
		if err != nil || len(found.Hits) != 1 || spot(found.Hits[0].Entry) != want || found.More != "" {
			b.Errorf("%+v: %d hits, next %q, %v; want one page with %s", s, len(found.Hits), found.More, err, want)
		}
	}
}

// boundedIndexing has texts with very many words.
func boundedIndexing(b *storeBench) {
	room := b.room(ann)
	var text strings.Builder
	for n := range 3000 {
		fmt.Fprint(&text, "w", n, " ")
	}
	for range 5 {
		b.write(room, ann, text.String())
	}
	for _, rows := range []int{9003, 15_005} { // with the sender
		left, err := b.IndexEntries(b.ctx, []string{room}, 100)
		if b.must(err); b.IndexRows() != rows || (len(left) == 1) != (rows < 15_000) {
			b.Errorf("%d rows, rooms left %q; want %d rows", b.IndexRows(), left, rows)
		}
	}
}

func foundAtOnce(b *storeBench) {
	var rooms []string
	for range 15 {
		rooms = append(rooms, b.room(ann))
	}
	var all []chat.Entry
	for n := range 24 { // some rooms have two
		d := b.draft(rooms[n%15], ann, "word")
		d.At = b.now.Truncate(time.Hour)
		e, _, err := b.Append(b.ctx, d)
		b.must(err)
		all = append(all, e)
	}
	slices.SortFunc(all, func(x, y chat.Entry) int {
		return strings.Compare(y.Room, x.Room)*2 + int(max(-1, min(1, y.Seq-x.Seq)))
	})
	b.indexed(func() { b.wantFound("word", chat.Search{User: ann}, all...) }, rooms...)
}

// searchModel compares searches with a scan of all texts, packets and names of files, while they are written, edited, recalled and put into the index, and a
// user comes and goes. In the end, the index has exactly the words of what is left, with their senders and kinds.
func searchModel(b *storeBench) {
	seed := uint64(7) // the same on each machine
	if enginetest.Tonight("suites") {
		seed = rand.Uint64()
	}
	b.Logf("seed %d", seed)
	m := modelOfSearch{storeBench: b, dice: rand.New(rand.NewPCG(seed, seed)), written: map[string]*writtenEntry{}, in: map[string]bool{}}
	m.rooms = []string{b.room(ann, bob), b.room(ann, bob), b.room(ann)}
	m.in[m.rooms[0]], m.in[m.rooms[1]] = true, true
	for step := range 300 {
		if m.step(); step%5 == 0 {
			m.compare(step)
		}
	}
	b.index(m.rooms...)
	want := 0
	for _, w := range m.written {
		if n := len(words.Of(w.text)); n > 0 {
			want += n + 1 // the sender
			if w.Kind == chat.KindPacket || w.files {
				want++
			}
		}
	}
	if n := b.IndexRows(); n != want {
		b.Errorf("the index has %d rows, want %d", n, want)
	}
}

type modelOfSearch struct {
	*storeBench

	dice    *rand.Rand
	rooms   []string
	written map[string]*writtenEntry // by spot
	in      map[string]bool          // rooms that bob is in
}

// writtenEntry is an entry with what it now says.
type writtenEntry struct {
	chat.Entry

	text  string
	files bool
}

func (m *modelOfSearch) text() string {
	vocabulary := strings.Fields("red packet 红 包 红包 Straße STRASSE happy 新年 快乐 年快 w1 w2 w3")
	var all []string
	for range 1 + m.dice.IntN(6) {
		all = append(all, vocabulary[m.dice.IntN(len(vocabulary))])
	}
	return strings.Join(all, []string{" ", "", ", "}[m.dice.IntN(3)])
}

func (m *modelOfSearch) pick() *writtenEntry {
	all := slices.Sorted(maps.Keys(m.written))
	return m.written[all[m.dice.IntN(len(all))]]
}

// write adds a text, a text with a file, or a packet.
func (m *modelOfSearch) write(room string) {
	m.Helper()
	from, w := ann, &writtenEntry{text: m.text()}
	if m.in[room] && m.dice.IntN(3) == 0 {
		from = bob
	}
	switch m.dice.IntN(6) {
	case 0:
		w.Entry = m.greet(room, from, w.text)
	case 1:
		name := m.text()
		w.Entry, w.files = m.attach(room, from, w.text, name), true
		w.text += "\n" + name
	default:
		w.Entry = m.storeBench.write(room, from, w.text)
	}
	m.written[spot(w.Entry)] = w
}

// step changes something.
func (m *modelOfSearch) step() {
	m.Helper()
	room := m.rooms[m.dice.IntN(len(m.rooms))]
	switch n := m.dice.IntN(10); {
	case n < 5 || len(m.written) < 5:
		m.write(room)
	case n < 7:
		w := m.pick()
		if w.Kind != chat.KindText || w.From.ID == bob && !m.in[w.Room] {
			return
		}
		if n == 6 {
			_, err := m.Amend(m.ctx, m.amending(chat.KindRecall, w.Room, w.From.ID, w.Seq))
			m.must(err)
			w.text, w.files = "", false
			return
		}
		said := m.text()
		if _, err := m.Amend(m.ctx, m.editing(w.Room, w.From.ID, w.Seq, said)); err != nil {
			m.refused(err, chat.ErrConflict) // it is recalled
			return
		}
		if _, name, found := strings.Cut(w.text, "\n"); found {
			said += "\n" + name
		}
		w.text = said
	case n == 7:
		if m.in[room] {
			m.leave(room, bob)
		} else {
			m.join(room, bob)
		}
		m.in[room] = !m.in[room]
	default:
		_, err := m.IndexEntries(m.ctx, []string{room, m.rooms[0]}, 1+m.dice.IntN(9))
		m.must(err)
	}
}

// compare searches with filters that are drawn.
func (m *modelOfSearch) compare(step int) {
	m.Helper()
	query, s := m.text(), chat.Search{User: bob}
	if m.dice.IntN(3) == 0 {
		query = "packet"
	}
	if m.dice.IntN(3) == 0 {
		s.From = []string{ann, bob, cyn}[m.dice.IntN(3)]
	}
	switch m.dice.IntN(6) {
	case 0:
		s.Kind = chat.KindPacket
	case 1:
		s.Kind = chat.KindText
	case 2:
		s.Kind, s.Files = chat.KindText, true
	}
	if m.dice.IntN(4) == 0 {
		s.After = m.pick().At
	}
	if m.dice.IntN(4) == 0 {
		s.Before = m.pick().At
	}
	q := words.ParseQuery(query)
	want := []*writtenEntry{}
	for _, w := range m.written {
		if m.in[w.Room] && q.Find(w.text) != nil && (s.From == "" || w.From.ID == s.From) && (s.Kind == "" || w.Kind == s.Kind) && (!s.Files || w.files) &&
			!w.At.Before(s.After) && (s.Before.IsZero() || w.At.Before(s.Before)) {
			want = append(want, w)
		}
	}
	slices.SortFunc(want, func(x, y *writtenEntry) int { return y.At.Compare(x.At) })
	spots := []string{}
	for _, w := range want {
		spots = append(spots, spot(w.Entry))
	}
	if got := m.searched(query, s, 1+m.dice.IntN(5)); !slices.Equal(got, spots) {
		m.Fatalf("step %d: %q, %+v finds %q, want %q", step, query, s, got, spots)
	}
}
