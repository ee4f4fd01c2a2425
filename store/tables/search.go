package tables

import (
	"cmp"
	"context"
	"math"
	"slices"

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
	wordsSearched  = 3    // words of a query that candidates must have
	tailOfRoom     = 200  // entries that are not in the index yet and that a search reads, in one room
	tailOfAll      = 2000 // the same, in all rooms of a user
	searchedRounds = 10   // how often one page looks for more candidates
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

// search looks for the entries of one page.
type search struct {
	chat.Search

	db    DB
	rooms []searchedRoom
	after place // the page begins after this place in the results
	found chat.Found
}

// Search implements chat.Store.
func (t Tables) Search(ctx context.Context, q chat.Search) (chat.Found, error) {
	s := search{Search: q, db: t.db, after: place{at: math.MaxInt64}}
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

// run fills the page, from the next candidates in each round.
func (s *search) run(ctx context.Context) (err error) {
	err = s.db.Read(ctx, func(q Querier) error {
		s.rooms, err = searchedRooms(q, s.Search)
		return err
	})
	for range searchedRounds {
		if err != nil {
			return err
		}
		var places []place
		if places, err = s.candidates(ctx); err != nil {
			return err
		}
		var taken int
		taken, err = s.take(ctx, places[:min(len(places), s.Limit)])
		if taken == len(places) {
			return err
		}
		if len(s.found.Hits) == s.Limit {
			break
		}
	}
	s.found.More = s.after.cursor()
	return err
}

func (p place) cursor() string { return cursor.Make("search", p.at, p.room, p.seq) }

// candidates returns the next places in the results at which an entry may stand that the query finds: more than Limit of them, if there are.
func (s *search) candidates(ctx context.Context) ([]place, error) {
	var places []place
	names := s.Query.Rarest(wordsSearched)
	statement, tail := candidatesOf[len(names)], tailOfAll
	since := int64(math.MinInt64)
	if !s.After.IsZero() {
		since = s.After.UnixMilli()
	}
	err := s.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		places, s.found.Unindexed, s.found.Behind, tail = nil, nil, false, tailOfAll
		for _, r := range s.rooms {
			at, seq := s.after.within(r.id)
			args := []any{since, at, seq, s.Limit + 1}
			for _, name := range names {
				args = append(args, words.Hash(r.id, name))
			}
			b.Each(func(row Row) error {
				p := place{room: r.id}
				err := row.Scan(&p.at, &p.seq)
				places = append(places, p)
				return err
			}, statement, args...)
			if r.last == r.indexed {
				continue
			}
			s.found.Unindexed = append(s.found.Unindexed, r.id)
			most := min(tailOfRoom, tail)
			tail -= int(min(int64(most), r.last-r.indexed))
			s.found.Behind = s.found.Behind || r.last-r.indexed > int64(most)
			b.Each(func(row Row) error {
				e, err := scanFolded(row)
				if p := placeOf(e); err == nil && p.at >= since && p.compare(s.after) < 0 && s.hit(e) != nil {
					places = append(places, p)
				}
				return err
			}, `select `+EntryColumns+`, fold from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq > $2 order by seq desc limit $3`, r.id, r.indexed, most)
		}
	})
	slices.SortFunc(places, func(a, b place) int { return b.compare(a) })
	return slices.Compact(places), err
}

// candidatesOf has the statement that reads the candidates of a room, by the number of words that they have.
var candidatesOf = func() []string {
	const (
		all   = `select a.at, a.seq from entry_words a `
		where = `where a.word = $5 /*! and a.bucket = ($5 & 15)::integer */ and a.at >= $1 and (a.at, a.seq) < ($2, $3) order by a.at desc, a.seq desc limit $4`
		and   = `join entry_words b on b.word = $6 and b.at = a.at and b.seq = a.seq /*! and b.bucket = a.bucket */ `
		third = `join entry_words c on c.word = $7 and c.at = a.at and c.seq = a.seq /*! and c.bucket = a.bucket */ `
	)
	return []string{"", all + where, all + and + where, all + and + third + where}
}()

func placeOf(e chat.Entry) place { return place{e.At.UnixMilli(), e.Room, e.Seq} }

// take reads the entries at the places, and adds those that the query finds to the page, until it is full. It returns how many it has looked at.
func (s *search) take(ctx context.Context, places []place) (taken int, err error) {
	if len(places) == 0 {
		return 0, nil
	}
	entries := make([]chat.Entry, len(places))
	err = s.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		for i, p := range places {
			b.Each(func(row Row) (err error) {
				entries[i], err = scanFolded(row)
				return err
			}, `select `+EntryColumns+`, fold from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, p.room, p.seq)
		}
	})
	for ; err == nil && taken < len(places) && len(s.found.Hits) < s.Limit; taken++ {
		s.after = places[taken]
		if h := s.hit(entries[taken]); h != nil {
			s.found.Hits = append(s.found.Hits, *h)
		}
	}
	return taken, err
}

// hit returns the entry with the places of the words, or nil if the search does not find it.
func (s *search) hit(e chat.Entry) *chat.Hit {
	if s.Kind != "" && e.Kind != s.Kind || s.From != "" && e.From.ID != s.From {
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
	for _, word := range words.Of(e.Searched()) {
		all = append(all, wordRecord{words.Hash(e.Room, word), e.At.UnixMilli(), e.Seq})
	}
	return all
}

// IndexEntries implements chat.Store.
func (t Tables) IndexEntries(ctx context.Context, rooms []string, most int) (left []string, err error) {
	rooms = slices.Compact(slices.Sorted(slices.Values(rooms))) // the order of locks
	most = max(1, most/max(1, len(rooms)))
	return write(ctx, t.db, "index entries", func(w Tx, _ []string) (left []string, err error) {
		through, err := lockIndexed(w, rooms...)
		if err != nil {
			return nil, err
		}
		var read, b Batch
		var records []wordRecord
		for _, room := range rooms {
			n := 0
			read.Each(func(row Row) error {
				e, err := scanFolded(row)
				records = append(records, wordRecords(e)...)
				if through[room], n = e.Seq, n+1; n == most {
					left = append(left, room)
				}
				return err
			}, `select `+EntryColumns+`, fold from entries
				where room_id = $1 /*! and bucket = bucket_of($1) */ and seq > $2 order by seq limit $3`, room, through[room], most)
		}
		if err := w.Send(&read); err != nil {
			return nil, err
		}
		slices.SortFunc(records, func(a, b wordRecord) int { return cmp.Compare(a.Word, b.Word) })
		addWords(w, &b, records)
		for _, room := range rooms {
			b.Exec(`update indexed_rooms set seq = $2 where room_id = $1 /*! and bucket = bucket_of($1) */ and seq < $2`, room, through[room])
		}
		return left, w.Send(&b)
	})
}

func addWords(d Dialect, b *Batch, records []wordRecord) {
	if len(records) > 0 {
		b.Exec(`insert into entry_words (/*! bucket, */ word, at, seq) select /*! (word & 15)::integer, */ word, at, seq from `+d.Records(1, "n", `word bigint, at bigint, seq bigint`)+` where true on conflict do nothing`, JSON(records)) // SQLite would take "on" for a join
	}
}

// lockIndexed returns up to which seq the entries of each of the rooms, which are sorted, are in the index. Until the transaction ends, that does not
// change.
func lockIndexed(w Tx, rooms ...string) (through map[string]int64, err error) {
	through = map[string]int64{}
	var b Batch
	for _, room := range rooms {
		b.Exec(`insert into indexed_rooms (/*! bucket, */ room_id, seq) values (/*! bucket_of($1), */ $1, 0) on conflict do nothing`, room)
		b.Each(func(row Row) error {
			var seq int64
			err := row.Scan(&seq)
			through[room] = seq
			return err
		}, `select seq from indexed_rooms where room_id = $1 /*! and bucket = bucket_of($1) */`+w.Lock(), room)
	}
	return through, w.Send(&b)
}

// reindex makes the batch replace the words of an amended entry, if it is in the index.
func reindex(w Tx, b *Batch, old, changed chat.Entry) error {
	through, err := lockIndexed(w, old.Room)
	if err != nil || old.Seq > through[old.Room] {
		return err
	}
	if gone := wordRecords(old); len(gone) > 0 {
		b.Exec(`delete from entry_words where word in (select word from `+w.Records(1, "o", `word bigint`)+`) and at = $2 and seq = $3
			and word & 15 = $4 /*! and bucket = $4 */`, JSON(gone), old.At.UnixMilli(), old.Seq, words.Bucket(old.Room))
	}
	addWords(w, b, wordRecords(changed))
	return nil
}
