package tables

import (
	"context"
	"math"

	"hongbao/chat"
	"hongbao/chat/words"
	"hongbao/store/cursor"
)

// FindRooms implements chat.Store. If one of the words of the query is rare, it reads all rooms with that word. Otherwise it reads the
// newest rooms, at most mostScanned for one page.
func (t Tables) FindRooms(ctx context.Context, query, next string, limit int) (found []chat.Room, more string, err error) {
	at, id := int64(math.MaxInt64), ""
	if next != "" {
		if err := cursor.Parse("rooms", next, &at, &id); err != nil {
			return nil, "", err
		}
	}
	err = t.db.Read(ctx, func(q Querier) error {
		ids, end, err := findNames(q, query, namedRoom{id, "", at}, limit)
		if err != nil {
			return err
		}
		found, err = roomsInOrder(q, ids)
		if more = ""; err == nil && end != nil {
			more = cursor.Make("rooms", end.createdAt, end.id)
		}
		return err
	})
	if err != nil {
		return nil, "", Outcome("find rooms", err)
	}
	return found, more, nil
}

const (
	rareWord    = 1000   // a word is rare if no more rooms have it
	wordsTried  = 20     // words of a query that are counted
	scannedOnce = 1000   // rooms that one statement reads
	mostScanned = 10_000 // rooms that one page reads, if every word of the query is frequent
)

// namedRoom is a room as a search sees it. Rooms are listed by createdAt and id, the newest first.
type namedRoom struct {
	id, name  string
	createdAt int64
}

var scanNamedRoom = into(func(r *namedRoom) []any { return []any{&r.id, &r.name, &r.createdAt} })

// isListed is what a room r must be to be found, and listedAfter also, with the place $1 and $2 after which the list begins.
const (
	isListed    = `r.kind = 'public' and r.deleted_at = 0 and r.members > 0 `
	listedAfter = isListed + `and (r.created_at, r.id) < ($1, $2) `
)

// hits are the rooms of a page whose names match the query.
type hits struct {
	query string
	limit int
	ids   []string
	last  *namedRoom // of ids; nil: none
}

// take adds the rooms that match, in their order. It returns false if there are more of them than the limit.
func (h *hits) take(rooms []namedRoom) (fit bool) {
	for _, r := range rooms {
		switch {
		case !words.Match(r.name, h.query):
		case len(h.ids) == h.limit:
			return false
		default:
			h.ids, h.last = append(h.ids, r.id), &r
		}
	}
	return true
}

// findNames returns at most limit rooms after the given one whose names match the query. end is where the next page begins, or nil if there
// is none.
func findNames(q Querier, query string, after namedRoom, limit int) (ids []string, end *namedRoom, err error) {
	h := hits{query: query, limit: limit}
	rare, err := rareWordOf(q, query)
	if err != nil {
		return nil, nil, err
	}
	if rare != "" {
		page, err := roomsWith(q, rare, after)
		if err != nil || h.take(page) {
			return h.ids, nil, err
		}
		return h.ids, h.last, nil
	}
	once := scannedOnce
	if query == "" {
		once = limit + 1 // all match
	}
	for scanned := once; ; scanned += once {
		page, err := newestRooms(q, after, once)
		switch {
		case err != nil:
			return nil, nil, err
		case !h.take(page):
			return h.ids, h.last, nil
		case len(page) < once:
			return h.ids, nil, nil
		}
		if after = page[len(page)-1]; scanned >= mostScanned {
			return h.ids, &after, nil
		}
	}
}

// roomsWith reads all rooms after the given one that have a word beginning so.
func roomsWith(q Querier, word string, after namedRoom) ([]namedRoom, error) {
	from, to := words.Range(word)
	return List(q, scanNamedRoom, `with few as materialized (select distinct room_id from room_words where word >= $3 and word < $4)
		select r.id, r.name, r.created_at from few cross join rooms r where r.id = few.room_id and `+listedAfter+`
		order by r.created_at desc, r.id desc`, after.createdAt, after.id, from, to)
}

// newestRooms reads at most limit rooms after the given one.
func newestRooms(q Querier, after namedRoom, limit int) ([]namedRoom, error) {
	return List(q, scanNamedRoom, `select r.id, r.name, r.created_at from rooms r where `+listedAfter+`
		order by r.created_at desc, r.id desc limit $3`, after.createdAt, after.id, limit)
}

// rareWordOf returns a word of the query that few rooms have, or "". It tries the longest first.
func rareWordOf(q Querier, query string) (rare string, err error) {
	for _, word := range words.Rarest(query, wordsTried) {
		from, to := words.Range(word)
		var n int
		if _, err := q.Row(`select count(*) from (select 1 from room_words where word >= $1 and word < $2 limit $3) w`, []any{from, to, rareWord + 1}, &n); err != nil {
			return "", err
		}
		if n <= rareWord {
			return word, nil
		}
	}
	return "", nil
}

// roomsInOrder reads the rooms in the order of the ids, but those that are not listed any more.
func roomsInOrder(q Querier, ids []string) ([]chat.Room, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return List(q, scanRoom, `select `+roomColumns+` from `+q.InOrder(1)+` asked cross join rooms r where r.id = asked.value and `+isListed+`order by asked.n`, q.List(ids))
}

// queueWords makes the batch store the words by which a public room is found. A deleted room has none.
func queueWords(b *Batch, d Dialect, r chat.Room) {
	if r.Kind != chat.Public {
		return
	}
	b.Exec(`delete from room_words where room_id = $1`, r.ID)
	if all := words.Parts(r.Name); !r.Deleted && len(all) > 0 {
		b.Exec(`insert into room_words (word, room_id) select asked.value, $1 from `+d.InOrder(2)+` asked`, r.ID, d.List(all))
	}
}
