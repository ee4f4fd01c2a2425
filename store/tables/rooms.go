package tables

import (
	"context"
	"math"

	"hongbao/chat"
	"hongbao/chat/words"
	"hongbao/redpacket"
	"hongbao/store/cursor"
)

// rooms has the methods of chat.Store that read rooms, and those of redpacket.Ledger about deleted ones.
type rooms struct{ db DB }

// roomColumns are the columns of a room r that roomInto scans.
const roomColumns = `r.id, r.name, r.kind, r.announcement, r.members, r.last_seq, r.created_at, r.deleted_at <> 0, r.invite, not r.guests, r.frozen, r.ref`

// roomInto returns the destinations of roomColumns.
func roomInto(r *chat.Room) []any {
	return []any{&r.ID, &r.Name, &r.Kind, &r.Announcement, &r.Members, &r.LastSeq, Time(&r.CreatedAt), &r.Deleted, &r.Invite, &r.NoGuests, &r.Frozen, &r.Ref}
}

// scanRoom scans roomColumns.
func scanRoom(row Row) (r chat.Room, err error) {
	err = row.Scan(roomInto(&r)...)
	return r, err
}

// FindRooms implements chat.Store. If one of the words of the query is rare, it reads all rooms with that word. Otherwise it reads the
// newest rooms, at most mostScanned for one page.
func (t rooms) FindRooms(ctx context.Context, query, next string, limit int) (found []chat.Room, more string, err error) {
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

func scanNamedRoom(row Row) (r namedRoom, err error) {
	err = row.Scan(&r.id, &r.name, &r.createdAt)
	return r, err
}

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

// LastSeqs implements chat.Store.
func (t rooms) LastSeqs(ctx context.Context, ids []string) (map[string]int64, error) {
	found, err := list(ctx, t.db, scanRoom, `select `+roomColumns+` from rooms r where r.id `+t.db.In(1), t.db.List(ids))
	if err != nil {
		return nil, Outcome("read last seqs", err)
	}
	seqs := make(map[string]int64, len(found))
	for _, r := range found {
		seqs[r.ID] = r.LastSeq
	}
	return seqs, nil
}

// Room implements chat.Store.
func (t rooms) Room(ctx context.Context, room string) (found chat.Room, err error) {
	err = t.db.Read(ctx, func(q Querier) error {
		found, err = ReadRoom(q, room)
		return err
	})
	return found, Outcome("read room", err)
}

// ReadRoom reads a room, also a deleted one. It returns chat.ErrNotFound if there never was one.
func ReadRoom(q Querier, id string) (chat.Room, error) { return selectRoom(q, id, "") }

// LockRoom reads a room, also a deleted one, and locks it until the end of the transaction. It returns chat.ErrNotFound
// if there never was one. After it, only rows may be locked that come later in the order of locks of package pgstore.
func LockRoom(w Tx, id string) (chat.Room, error) { return selectRoom(w, id, w.Lock()) }

func selectRoom(q Querier, id, lock string) (chat.Room, error) {
	return one(q, scanRoom, `select `+roomColumns+` from rooms r where r.id = $1`+lock, id)
}

// recordOfRoom selects roomColumns and the owner of a room r.
const recordOfRoom = `select ` + roomColumns + `, coalesce((select m.user_id from members m where m.room_id = r.id and m.state = 'in' and m.role = 'owner'), '')
	from rooms r `

func scanRoomRecord(row Row) (r chat.RoomRecord, err error) {
	err = row.Scan(append(roomInto(&r.Room), &r.Owner)...)
	return r, err
}

// RoomRecord implements chat.Store.
func (t rooms) RoomRecord(ctx context.Context, room string) (found chat.RoomRecord, err error) {
	err = t.db.Read(ctx, func(q Querier) error {
		found, err = one(q, scanRoomRecord, recordOfRoom+`where r.id = $1 and r.deleted_at = 0`, room)
		return err
	})
	return found, Outcome("read room", err)
}

// RoomRecords implements chat.Store.
func (t rooms) RoomRecords(ctx context.Context, q chat.RoomQuery) (found []chat.RoomRecord, more string, err error) {
	if q.Ref != "" {
		found, err = list(ctx, t.db, scanRoomRecord, recordOfRoom+`join refs f on f.id = r.id where f.kind = 'room' and f.ref = $1 and r.deleted_at = 0`, q.Ref)
		return found, "", Outcome("find room", err)
	}
	from := ""
	if q.Next != "" {
		if err := cursor.Parse("rooms of the host", q.Next, &from); err != nil {
			return nil, "", err
		}
	}
	found, err = list(ctx, t.db, scanRoomRecord, recordOfRoom+`where r.id > $1 and r.deleted_at = 0 order by r.id limit $2`, from, q.Limit+1)
	if err != nil {
		return nil, "", Outcome("list rooms", err)
	}
	if len(found) > q.Limit {
		found = found[:q.Limit]
		more = cursor.Make("rooms of the host", found[q.Limit-1].ID)
	}
	return found, more, nil
}

// takeRoomRef gives the new room its ref, and returns "". If another room that is not deleted has the ref, it returns
// the id of that room and changes nothing. It does nothing if the new room has no ref.
func takeRoomRef(w Tx, r chat.NewRoom) (taken string, err error) {
	if r.Ref == "" {
		return "", nil
	}
	for {
		owner, err := takeRef(w, "room", r.Ref, r.ID)
		if err != nil || owner == r.ID {
			return "", err
		}
		if other, err := ReadRoom(w, owner); err != nil || !other.Deleted {
			return owner, err
		}
		if _, err := w.Exec(`delete from refs where kind = 'room' and ref = $1 and id = $2`, r.Ref, owner); err != nil {
			return "", err
		}
	}
}

// DeletedRoomsQuery lists the deleted rooms not yet marked packets_closed, and whether they have open packets. It relies
// on the indexes rooms_deleted and packets_room.
func DeletedRoomsQuery(d Dialect) string {
	return FirstOnCitus(Of("p", "packets", `status = 'open'`)) + `select r.id, exists (select 1 from /*one*/ packets /*end*/ p where p.room_id = r.id and p.status = 'open')
		from rooms r where r.deleted_at <> 0 and ` + d.Is(`r.packets_closed`, false) + ` and r.id > $1 order by r.id limit $2`
}

// DeletedRooms implements redpacket.Ledger. In pgstore a deletion locks the rows of all members that may still send, until its
// commit. Each transaction that sends a packet locks the sender's row in members. SQLite has one writer. So a reader that sees a
// room as deleted also sees every packet that was sent into it.
func (t rooms) DeletedRooms(ctx context.Context, after string, limit int) (open []string, next string, err error) {
	var done []string
	err = t.db.Read(ctx, func(q Querier) error {
		page, err := List(q, scanDeleted, DeletedRoomsQuery(q), after, limit)
		open, done, next = nil, nil, ""
		for _, room := range page {
			if room.open {
				open = append(open, room.id)
			} else {
				done = append(done, room.id)
			}
		}
		if len(page) == limit {
			next = page[limit-1].id
		}
		return err
	})
	if err == nil && len(done) > 0 {
		err = t.markClosedRooms(ctx, done)
	}
	return open, next, Outcome("list deleted rooms", err)
}

// markClosedRooms marks deleted rooms without open packets. It skips rooms that another transaction has locked: a
// later call of DeletedRooms lists them again.
func (t rooms) markClosedRooms(ctx context.Context, ids []string) error {
	return t.db.Write(ctx, func(w Tx) error {
		_, err := w.Exec(`update rooms set packets_closed = true
			where id in (select id from rooms where id `+w.In(1)+` order by id`+w.LockFree()+`)`, w.List(ids))
		return err
	})
}

// deletedRoom is a deleted room that is not marked packets_closed yet.
type deletedRoom struct {
	id   string
	open bool // it has open packets
}

func scanDeleted(row Row) (r deletedRoom, err error) {
	err = row.Scan(&r.id, &r.open)
	return r, err
}

// OpenInDeletedQuery lists the open packets of a room if the room is deleted, and none otherwise.
var OpenInDeletedQuery = FirstOnCitus(Of("p", "packets", `room_id = $1 and status = 'open'`)) + `select p.id, p.partition from /*one*/ packets /*end*/ p
	where p.room_id = $1 and p.status = 'open' and p.id > $2 and exists (select 1 from rooms r where r.id = $1 and r.deleted_at <> 0)
	order by p.id limit $3`

// OpenInDeleted implements redpacket.Ledger.
func (t rooms) OpenInDeleted(ctx context.Context, room, after string, limit int) (open []redpacket.Ref, err error) {
	open, err = list(ctx, t.db, scanRef, OpenInDeletedQuery, room, after, limit)
	return open, Outcome("list open packets of a deleted room", err)
}

// scanRef scans the id and the partition of a packet.
func scanRef(row Row) (r redpacket.Ref, err error) {
	err = row.Scan(&r.ID, &r.Partition)
	return r, err
}
