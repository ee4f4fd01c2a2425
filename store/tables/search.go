package tables

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"hongbao/chat"
	"hongbao/chat/words"
	"hongbao/store/cursor"
)

// The search: entry_words has a row for each word of a text or a greeting. Rows come some time after their entry (IndexEntries), room by room in
// the order of seq, so that a send costs nothing. Until then, a search reads the entries themselves. An edit or a recall changes the rows in its
// own transaction. The index only names candidates: words.Query.Find decides.
//
// A word is stored as a hash of the room and the word. So a search reads only the rows of the user's rooms, however many others use the word.

const (
	wordsSearched = 3 // words of a query that candidates must have
	// Of entries that are not in the index yet, a search reads at most these: in one room, in all rooms of a user, and texts of so many bytes.
	tailOfRoom, tailOfAll, tailBytes = 200, 2000, 256 << 10
	mostLooked                       = 1000   // candidates that one page looks at
	mostRows                         = 20_000 // rows of a word that one page compares with those of the other words, before its last reading of them
	rowsAtOnce                       = 2_000  // of these, rows of one reading; rowsOfRoom of each room, if there are many
	rowsOfRoom                       = 50
	mostWords                        = 10_000 // words that one transaction adds to the index; more only if one entry has more
)

// place is where an entry stands in the results of a search, which are in the descending order of these fields.
type place struct {
	at   int64
	room string
	seq  int64
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.at, q.at), cmp.Compare(p.room, q.room), cmp.Compare(p.seq, q.seq))
}

// within returns the place, as seen by its room, before which all entries of the room come that follow p in the results.
func (p place) within(room string) (at, seq int64) {
	switch c := cmp.Compare(room, p.room); {
	case c < 0:
		return p.at, math.MaxInt64
	case c > 0:
		return p.at, 0
	}
	return p.at, p.seq
}

// searchedRoom is a room in which a search looks.
type searchedRoom struct {
	id            string
	last, indexed int64 // seq of the last entry, and of the last one in the index
}

var scanSearchedRoom = into(func(r *searchedRoom) []any { return []any{&r.id, &r.last, &r.indexed} })

// searchedRooms returns the rooms that the user is in, or only the given one of them. For the system, that is any room.
func searchedRooms(q Querier, s chat.Search) ([]searchedRoom, error) {
	rooms := func(which, from string, args ...any) ([]searchedRoom, error) {
		return List(q, scanSearchedRoom, FirstOnCitus(Of("x", "indexed_rooms", which))+`select r.id, r.last_seq,
			coalesce((select i.seq from `+Named("indexed_rooms", "x")+` i where i.room_id = r.id), 0) from `+from+` and r.deleted_at = 0`, args...)
	}
	const of = `members m join rooms r on r.id = m.room_id where m.user_id = $1 and m.state = 'in'`
	switch {
	case s.User == chat.System.ID:
		return rooms(`room_id = $1 and bucket = bucket_of($1)`, `rooms r where r.id = $1`, s.Room)
	case s.Room != "":
		return rooms(`room_id = $2 and bucket = bucket_of($2)`, of+` and m.room_id = $2`, s.User, s.Room)
	}
	return rooms(`room_id in (select room_id from members where user_id = $1 and state = 'in')`, of, s.User)
}

// narrowed returns the words that candidates must have: few texts may be of the sender, or have files, however many have the words of the query.
func narrowed(q chat.Search) []string {
	all := q.NarrowingWords()
	return append(all, q.Query.Rarest(wordsSearched-len(all))...)
}

// search looks for the entries of one page.
type search struct {
	chat.Search

	db    DB
	words []string       // which candidates must have
	rooms []searchedRoom // those first that have the fewest entries outside the index
	tail  []chat.Entry   // the entries outside the index that the query finds
	after place          // the page begins after this place in the results
	bytes int            // of the bodies of the hits

	compared int // rows of the first word that are known to be compared with those of the others

	found chat.Found
}

// Search implements chat.Store.
func (t Tables) Search(ctx context.Context, q chat.Search) (chat.Found, error) {
	s := search{Search: q, db: t.db, words: narrowed(q), after: place{at: math.MaxInt64}}
	if !q.Before.IsZero() {
		s.after.at = q.Before.UnixMilli()
	}
	if q.Next != "" {
		if err := cursor.Parse("search", q.Next, &s.after.at, &s.after.room, &s.after.seq); err != nil {
			return chat.Found{}, err
		}
	}
	if err := s.run(ctx); err != nil {
		return chat.Found{}, Outcome("search", err)
	}
	return s.found, nil
}

// run fills the page.
func (s *search) run(ctx context.Context) (err error) {
	err = s.db.Read(ctx, func(q Querier) error {
		s.rooms, err = searchedRooms(q, s.Search)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(s.rooms, func(a, b searchedRoom) int { return cmp.Compare(a.last-a.indexed, b.last-b.indexed) })
	if err := s.readTail(ctx); err != nil {
		return err
	}
	for looked := 0; looked < mostLooked && s.compared < mostRows; {
		before := s.compared
		places, end, err := s.candidates(ctx)
		if err != nil {
			return err
		}
		looked += len(places)
		for chunk := range slices.Chunk(places, s.Limit) {
			if full, err := s.take(ctx, chunk); err != nil || full {
				return err
			}
		}
		if end.at == math.MinInt64 {
			return nil
		}
		s.after = end
		if s.compared > before { // the first word is a frequent one
			s.words = append(s.words[1:], s.words[0])
		}
	}
	s.found.More = s.after.cursor()
	return nil
}

func (p place) cursor() string { return cursor.Make("search", p.at, p.room, p.seq) }

func placeOf(e chat.Entry) place { return place{e.At.UnixMilli(), e.Room, e.Seq} }

// since returns the time in Unix milliseconds before which nothing is found.
func (s *search) since() int64 {
	if s.After.IsZero() {
		return math.MinInt64
	}
	return s.After.UnixMilli()
}

// readTail reads the newest entries that are not in the index.
func (s *search) readTail(ctx context.Context) error {
	var tail []chat.Entry
	size := 0
	err := s.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		tail, size, s.found.Unindexed, s.found.Behind = nil, 0, nil, false
		left := int64(tailOfAll)
		for _, r := range s.rooms {
			outside := r.last - r.indexed
			if outside <= 0 { // on Citus, the two seqs are read one after the other
				continue
			}
			s.found.Unindexed = append(s.found.Unindexed, r.id)
			most := min(tailOfRoom, left)
			left -= min(most, outside)
			s.found.Behind = s.found.Behind || outside > most
			if most > 0 {
				b.Each(func(row Row) error {
					e, err := scanFolded(row)
					if size += len(e.Body); size <= tailBytes {
						tail = append(tail, e)
					} else {
						s.found.Behind = true
					}
					return err
				}, `select `+EntryColumns+`, fold from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq > $2 order by seq desc limit $3`, r.id, r.indexed, most)
			}
		}
	})
	for _, e := range tail {
		if s.hit(e) != nil {
			s.tail = append(s.tail, e)
		}
	}
	return err
}

// candidates returns the next places in the results at which an entry may stand that the query finds. Before end, none is missing; at math.MinInt64 there are
// no others.
func (s *search) candidates(ctx context.Context) (places []place, end place, err error) {
	l := listed{limit: s.Limit + 1, rows: max(rowsOfRoom, rowsAtOnce/max(1, len(s.rooms)))}
	err = s.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		l.places, l.of, l.ended, l.end = nil, map[string]int{}, 0, place{at: math.MinInt64}
		if s.db.Lateral() {
			s.queueTogether(b, &l)
		} else {
			s.queueEach(b, &l)
		}
	})
	s.compared += l.ended * l.rows
	for _, e := range s.tail {
		if p := placeOf(e); p.at >= s.since() && p.compare(s.after) < 0 {
			l.places = append(l.places, p)
		}
	}
	places = slices.DeleteFunc(l.places, func(p place) bool { return p.compare(l.end) < 0 })
	slices.SortFunc(places, func(a, b place) int { return b.compare(a) })
	return slices.Compact(places), l.end, err
}

// listed is the candidates that the index has listed.
type listed struct {
	limit  int // of one room
	rows   int // of the first word in one room that are compared with those of the other words
	places []place
	of     map[string]int // by room
	ended  int            // rooms of which all these rows were compared, and that may have more
	end    place          // between it and the beginning of the list no candidate is missing
}

func (l *listed) add(p place) {
	l.places = append(l.places, p)
	if l.of[p.room]++; l.of[p.room] == l.limit {
		l.endAt(p)
	}
}

func (l *listed) endAt(p place) {
	if p.compare(l.end) > 0 {
		l.end = p
	}
}

// queueEach makes the batch list the candidates of each room by a statement.
func (s *search) queueEach(b *Batch, l *listed) {
	for _, r := range s.rooms {
		at, seq := s.after.within(r.id)
		args := []any{s.since(), at, seq, l.limit}
		for _, word := range s.words {
			args = append(args, words.Hash(r.id, word))
		}
		b.Each(func(row Row) error {
			p := place{room: r.id}
			err := row.Scan(&p.at, &p.seq)
			l.add(p)
			return err
		}, candidatesOf[len(s.words)], append(args, l.comparing(len(s.words))...)...)
		if len(s.words) > 1 {
			b.Each(func(row Row) error {
				var last place // all rows of this time are compared
				err := row.Scan(&last.at)
				if l.of[r.id] < l.limit { // else fewer rows were compared
					l.ended++
					l.endAt(last)
				}
				return err
			}, lastCompared, s.since(), at, seq, l.rows, args[4])
		}
	}
}

// candidatesOf has the statement that lists the candidates of a room, by the number of words that they have.
var candidatesOf = func() []string {
	const (
		all    = `select a.at, a.seq from entry_words a `
		where  = `where a.word = $5 /*! and a.bucket = ($5::bigint & 15)::integer */ and a.at >= $1 and (a.at, a.seq) < ($2, $3) `
		newest = `order by a.at desc, a.seq desc limit $4`
		and    = `join entry_words b on b.word = $6 and b.at = a.at and b.seq = a.seq /*! and b.bucket = a.bucket */ `
		third  = `join entry_words c on c.word = $7 and c.at = a.at and c.seq = a.seq /*! and c.bucket = a.bucket */ `
	)
	several := func(joins, most string, tables ...string) string {
		since := `coalesce((select x.at from entry_words x where x.word = $5 /*! and x.bucket = ($5::bigint & 15)::integer */ and x.at >= $1 and (x.at, x.seq) < ($2, $3)
			order by x.at desc, x.seq desc limit 1 offset ` + most + ` - 1), $1)`
		compared := []string{`and a.at >= ` + since}
		for _, table := range tables {
			compared = append(compared, `/*! and `+table+`.at >= `+strings.NewReplacer(`/*!`, ``, `*/`, ``).Replace(since)+` */`)
		}
		return all + joins + where + strings.Join(compared, ` `) + ` ` + newest
	}
	return []string{"", all + where + newest, several(and, `$7`, "b"), several(and+third, `$8`, "b", "c")}
}()

// lastCompared is the statement that tells at which time the last row is that candidatesOf compares with the rows of other words; nothing if it compares
// all. Two frequent words may never meet.
const lastCompared = `select a.at from entry_words a where a.word = $5 /*! and a.bucket = ($5::bigint & 15)::integer */ and a.at >= $1 and (a.at, a.seq) < ($2, $3)
	order by a.at desc, a.seq desc limit 1 offset $4 - 1`

// numbered begins a query that numbers the newest rows a of a word. Only these are compared with the rows of other words, as by candidatesOf.
const numbered = `select a.at, a.seq, row_number() over (order by a.at desc, a.seq desc) as n`

// roomRecord is a room with the place before which its candidates come, and the hashes of the words, as a record for Dialect.Records.
type roomRecord struct {
	N   int   `json:"n"`
	At  int64 `json:"at"`
	Seq int64 `json:"seq"`
	A   int64 `json:"a"`
	B   int64 `json:"b"`
	C   int64 `json:"c"`
}

// queueTogether makes the batch list the newest candidates of all rooms by one statement, which takes less than half of the time.
func (s *search) queueTogether(b *Batch, l *listed) {
	rooms := make([]roomRecord, len(s.rooms))
	for n, r := range s.rooms {
		var hashes [wordsSearched]int64
		for i, word := range s.words {
			hashes[i] = words.Hash(r.id, word)
		}
		at, seq := s.after.within(r.id)
		rooms[n] = roomRecord{n, at, seq, hashes[0], hashes[1], hashes[2]}
	}
	most := 5 * l.limit
	b.Each(func(row Row) error {
		var p place
		var n, compared int
		err := row.Scan(&n, &p.at, &p.seq, &compared)
		p.room = s.rooms[n].id
		if l.add(p); compared == l.rows { // the last row that is compared is listed even if it has not all words
			l.ended++
			l.endAt(p)
		}
		if len(l.places) == most {
			l.endAt(place{at: p.at}) // all candidates of this time are listed
		}
		return err
	}, `select k.n, f.at, f.seq, f.n from `+s.db.Records(1, "k", `n integer, at bigint, seq bigint, a bigint, b bigint, c bigint`)+`
		cross join lateral (`+newestOf[len(s.words)]+`) f order by f.at desc fetch first $4 rows with ties`, append([]any{JSON(rooms), s.since(), l.limit, most}, l.comparing(len(s.words))...)...)
}

// newestOf lists the newest candidates of a room k, by the number of words.
var newestOf = func() []string {
	const (
		of     = ` from entry_words a where a.word = k.a and a.at >= $2 and (a.at, a.seq) < (k.at, k.seq) order by a.at desc, a.seq desc limit `
		first  = `select a.at, a.seq, a.n from (` + numbered + of + `$5) a left join entry_words b on b.word = k.b and b.at = a.at and b.seq = a.seq `
		second = `left join entry_words c on c.word = k.c and c.at = a.at and c.seq = a.seq `
		newest = `or a.n = $5 order by a.at desc, a.seq desc limit $3`
	)
	return []string{
		"", `select a.at, a.seq, 0 as n` + of + `$3`, first + `where b.seq is not null ` + newest, first + second + `where b.seq is not null and c.seq is not null ` + newest,
	}
}()

// comparing returns the last argument of a statement that compares rows of several words.
func (l *listed) comparing(words int) []any {
	if words > 1 {
		return []any{l.rows}
	}
	return nil
}

// take reads the entries at the places, and adds those that the query finds to the page. If the page is full before the last of them, it sets the
// cursor.
func (s *search) take(ctx context.Context, places []place) (full bool, err error) {
	entries, err := entriesAt(ctx, s.db, places)
	if err != nil {
		return false, err
	}
	for i, e := range entries {
		if h := s.hit(e); h != nil {
			n := len(s.found.Hits)
			if s.bytes += len(e.Body); n == s.Limit || n > 0 && s.MaxBytes > 0 && s.bytes > s.MaxBytes {
				s.found.More = s.after.cursor()
				return true, nil
			}
			s.found.Hits = append(s.found.Hits, *h)
		}
		s.after = places[i]
	}
	return false, nil
}

// hit returns the entry with the places of the words, or nil if the search does not find it.
func (s *search) hit(e chat.Entry) *chat.Hit {
	if s.Kind != "" && e.Kind != s.Kind || s.From != "" && e.From.ID != s.From {
		return nil
	}
	if s.Files && !e.HasFiles() {
		return nil
	}
	at := s.Query.Find(e.Searched())
	if at == nil {
		return nil
	}
	return &chat.Hit{Entry: e, Places: at}
}

// wordRecord is a row of entry_words as a record for Dialect.Records.
type wordRecord struct {
	Word int64 `json:"word"`
	At   int64 `json:"at"`
	Seq  int64 `json:"seq"`
}

func wordRecords(e chat.Entry) []wordRecord {
	var all []wordRecord
	for _, word := range e.IndexedWords() {
		all = append(all, wordRecord{words.Hash(e.Room, word), e.At.UnixMilli(), e.Seq})
	}
	return all
}

// IndexEntries implements chat.Store.
func (t Tables) IndexEntries(ctx context.Context, rooms []string, limit int) (left []string, err error) {
	rooms = slices.Compact(slices.Sorted(slices.Values(rooms))) // the order of locks
	return write(ctx, t.db, "index entries", func(w Tx, _ []string) ([]string, error) {
		through, err := beginIndexing(w, rooms)
		if err != nil {
			return nil, err
		}
		in := indexing{Tx: w, most: limit}
		for _, n := range rand.Perm(len(rooms)) { // whichever comes first may leave nothing for others
			seq, live := through[rooms[n]]
			if !live {
				continue
			}
			if err := in.add(rooms[n], seq); err != nil {
				return nil, err
			}
		}
		slices.SortFunc(in.words, func(a, b wordRecord) int { return cmp.Compare(a.Word, b.Word) })
		addWords(w, &in.writes, in.words)
		return in.left, w.Send(&in.writes)
	})
}

// indexing is a transaction that adds entries to the index.
type indexing struct {
	Tx

	writes Batch // all but the words
	most   int   // entries that it may still take
	words  []wordRecord
	left   []string // rooms that may have other entries
}

// add takes the next entries of a room, those after the given seq. Seqs have no gaps: on Citus, a missing entry is one that is not visible yet. A room
// whose next entry is missing waits for another entry, or for a search in it.
func (in *indexing) add(room string, through int64) error {
	if in.most <= 0 || len(in.words) >= mostWords {
		in.left = append(in.left, room)
		return nil
	}
	entries, err := List(in.Tx, scanFolded, `select `+EntryColumns+`, fold from entries
		where room_id = $1 /*! and bucket = bucket_of($1) */ and seq > $2 order by seq limit $3`, room, through, in.most)
	if err != nil {
		return err
	}
	last := through
	for _, e := range entries {
		added := wordRecords(e)
		if e.Seq != last+1 || len(in.words) > 0 && len(in.words)+len(added) > mostWords {
			break
		}
		in.words, last = append(in.words, added...), e.Seq
	}
	if taken := int(last - through); taken > 0 && (taken == in.most || taken < len(entries)) {
		in.left = append(in.left, room)
	}
	in.most -= int(last - through)
	in.writes.Exec(`update indexed_rooms set seq = $2 where room_id = $1 /*! and bucket = bucket_of($1) */ and seq < $2`, room, last)
	return nil
}

func addWords(d Dialect, b *Batch, records []wordRecord) {
	if len(records) > 0 {
		b.Exec(`insert into entry_words (/*! bucket, */ word, at, seq) select /*! (word & 15)::integer, */ word, at, seq from `+d.Records(1, "n", `word bigint, at bigint, seq bigint`)+` where true on conflict do nothing`, JSON(records)) // SQLite would take "on" for a join
	}
}

// lockIndexed returns up to which seq the entries of a room are in the index. Until the transaction ends, that does not change. found is false if the
// room has never been in the index.
func lockIndexed(w Tx, room string) (through int64, found bool, err error) {
	var b Batch
	queueLockIndexed(w, &b, room, func(seq int64) { through, found = seq, true })
	return through, found, w.Send(&b)
}

func queueLockIndexed(d Dialect, b *Batch, room string, locked func(seq int64)) {
	b.Each(func(row Row) error {
		var seq int64
		err := row.Scan(&seq)
		locked(seq)
		return err
	}, `select seq from indexed_rooms where room_id = $1 /*! and bucket = bucket_of($1) */`+d.Lock(), room)
}

// beginIndexing locks what lockIndexed locks, of all of the rooms that are not deleted, which must be sorted. It adds the row of a room that is new to
// the index. For that it locks the room: an amendment of its entries, which holds that lock, is committed before, or finds the row.
func beginIndexing(w Tx, rooms []string) (through map[string]int64, err error) {
	known, live := map[string]bool{}, map[string]bool{}
	note := func(b *Batch, in map[string]bool, room, query string) {
		b.Each(func(row Row) error {
			in[room] = true
			return row.Scan(new(int))
		}, query, room)
	}
	const (
		isKnown = `select 1 from indexed_rooms where room_id = $1 /*! and bucket = bucket_of($1) */`
		isLive  = `select 1 from rooms where id = $1 and deleted_at = 0`
	)
	var first, second Batch
	for _, room := range rooms {
		note(&first, known, room, isKnown)
		note(&first, live, room, isLive)
	}
	if err := w.Send(&first); err != nil {
		return nil, err
	}
	through, still := map[string]int64{}, map[string]bool{}
	for _, room := range slices.DeleteFunc(slices.Clone(rooms), func(room string) bool { return !live[room] }) {
		if !known[room] {
			note(&second, live, room, isLive+w.Lock())
			second.Exec(`insert into indexed_rooms (/*! bucket, */ room_id, seq) values (/*! bucket_of($1), */ $1, 0) on conflict do nothing`, room)
		}
		queueLockIndexed(w, &second, room, func(seq int64) { through[room] = seq })
		note(&second, still, room, isLive) // dropWords, which waits for the lock, follows a deletion
	}
	err = w.Send(&second)
	maps.DeleteFunc(through, func(room string, _ int64) bool { return !still[room] })
	return through, err
}

// dropWords makes the batch take the next step: the words of the newest entries of a deleted room leave the index, and in the last step the room itself.
func dropWords(w Tx, b *Batch, room string) error {
	through, found, err := lockIndexed(w, room)
	if err != nil || !found {
		return err
	}
	entries, err := List(w, scanFolded, `select `+EntryColumns+`, fold from entries
		where room_id = $1 /*! and bucket = bucket_of($1) */ and seq <= $2 order by seq desc limit $3`, room, through, GoneAtOnce)
	if err != nil {
		return err
	}
	var gone []wordRecord
	through = 0
	for _, e := range entries {
		if len(gone) >= mostWords {
			through = e.Seq
			break
		}
		gone, through = append(gone, wordRecords(e)...), e.Seq-1
	}
	queueDropWords(w, b, room, gone)
	if through == 0 {
		b.Exec(`delete from indexed_rooms where room_id = $1 /*! and bucket = bucket_of($1) */`, room)
		return nil
	}
	b.Exec(`update indexed_rooms set seq = $2 where room_id = $1 /*! and bucket = bucket_of($1) */`, room, through)
	return nil
}

// queueDropWords makes the batch delete rows of the index. The row of the room in indexed_rooms must be locked.
func queueDropWords(d Dialect, b *Batch, room string, gone []wordRecord) {
	if len(gone) > 0 {
		b.Exec(`delete from entry_words where (word, at, seq) in (select word, at, seq from `+d.Records(1, "o", `word bigint, at bigint, seq bigint`)+`)
			and word & 15 = $2 /*! and bucket = $2 */`, JSON(gone), words.Bucket(room))
	}
}

// reindex makes the batch replace the words of an amended entry, if it is in the index.
func reindex(w Tx, b *Batch, old, changed chat.Entry) error {
	through, _, err := lockIndexed(w, old.Room)
	if err != nil || old.Seq > through {
		return err
	}
	before, after := wordRecords(old), wordRecords(changed)
	if gone := without(before, after); len(gone) > 0 { // the bucket is that of each of the words
		b.Exec(`delete from entry_words where word in (select word from `+w.Records(1, "o", `word bigint`)+`) and at = $2 and seq = $3
			and word & 15 = $4 /*! and bucket = $4 */`, JSON(gone), old.At.UnixMilli(), old.Seq, words.Bucket(old.Room))
	}
	addWords(w, b, without(after, before))
	return nil
}

// without returns the records that are not among the others.
func without(records, others []wordRecord) []wordRecord {
	all := make(map[wordRecord]bool, len(others))
	for _, r := range others {
		all[r] = true
	}
	return slices.DeleteFunc(slices.Clone(records), func(r wordRecord) bool { return all[r] })
}
