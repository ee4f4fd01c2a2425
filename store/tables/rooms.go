package tables

import (
	"context"
	"errors"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/cursor"
)

// roomColumns are the columns of a room r that roomInto scans.
const roomColumns = `r.id, r.name, r.kind, r.announcement, r.members, r.last_seq, r.created_at, r.deleted_at <> 0, r.invite, not r.guests, not r.packets, r.frozen, r.ref`

// roomInto returns the destinations of roomColumns.
func roomInto(r *chat.Room) []any {
	return []any{&r.ID, &r.Name, &r.Kind, &r.Announcement, &r.Members, &r.LastSeq, Time(&r.CreatedAt), &r.Deleted, &r.Invite, &r.NoGuests, &r.NoPackets, &r.Frozen, &r.Ref}
}

// scanRoom scans roomColumns.
var scanRoom = into(roomInto)

// LastSeqs implements chat.Store.
func (t Tables) LastSeqs(ctx context.Context, ids []string) (map[string]int64, error) {
	found, err := list(ctx, t.db, "read last seqs", scanRoom, `select `+roomColumns+` from rooms r where r.id `+t.db.In(1), t.db.List(ids))
	if err != nil {
		return nil, err
	}
	seqs := make(map[string]int64, len(found))
	for _, r := range found {
		seqs[r.ID] = r.LastSeq
	}
	return seqs, nil
}

// Room implements chat.Store.
func (t Tables) Room(ctx context.Context, room string) (chat.Room, error) {
	return read(ctx, t.db, "read room", func(q Querier) (chat.Room, error) { return ReadRoom(q, room) })
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

var scanRoomRecord = into(func(r *chat.RoomRecord) []any { return append(roomInto(&r.Room), &r.Owner) })

// RoomRecord implements chat.Store.
func (t Tables) RoomRecord(ctx context.Context, room string) (chat.RoomRecord, error) {
	return read(ctx, t.db, "read room", func(q Querier) (chat.RoomRecord, error) {
		return one(q, scanRoomRecord, recordOfRoom+`where r.id = $1 and r.deleted_at = 0`, room)
	})
}

// RoomRecords implements chat.Store.
func (t Tables) RoomRecords(ctx context.Context, q chat.RoomQuery) (found []chat.RoomRecord, more string, err error) {
	if q.Ref != "" {
		found, err = list(ctx, t.db, "find room", scanRoomRecord, recordOfRoom+`join refs f on f.id = r.id where f.kind = 'room' and f.ref = $1 and r.deleted_at = 0`, q.Ref)
		return found, "", err
	}
	from := ""
	if q.Next != "" {
		if err := cursor.Parse("rooms of the host", q.Next, &from); err != nil {
			return nil, "", err
		}
	}
	found, err = list(ctx, t.db, "list rooms", scanRoomRecord, recordOfRoom+`where r.id > $1 and r.deleted_at = 0 order by r.id limit $2`, from, q.Limit+1)
	if err != nil {
		return nil, "", err
	}
	found, more = pageOf(found, q.Limit, func(last chat.RoomRecord) string { return cursor.Make("rooms of the host", last.ID) })
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

// DeletedRoomsQuery lists the deleted rooms not yet marked emptied, whether they have open packets, and whether they have members that are
// not gone, files that are not dropped, or words in the index of the search. It relies on the indexes rooms_deleted, packets_room, members_list and files_kept.
func DeletedRoomsQuery(d Dialect) string {
	deleted := `room_id in (select id from rooms where deleted_at <> 0 and ` + d.Is(`emptied`, false) + `)`
	return FirstOnCitus(Of("p", "packets", `status = 'open'`), Of("x", "indexed_rooms", deleted)) + `select r.id, exists (select 1 from /*one*/ packets /*end*/ p where p.room_id = r.id and p.status = 'open'),
		exists (select 1 from members m where m.room_id = r.id and ` + notGone + `)
			or exists (select 1 from files f where f.room_id = r.id and f.state <> 'dropped')
			or exists (select 1 from ` + Named("indexed_rooms", "x") + ` i where i.room_id = r.id)
		from rooms r where r.deleted_at <> 0 and ` + d.Is(`r.emptied`, false) + ` and r.id > $1 order by r.id limit $2`
}

// notGone is a condition on members m, in a form for which an index on the state can be used.
const notGone = `m.state in ('in', 'left', 'kicked')`

// GoneAtOnce is the most members of a deleted room that become gone in one transaction. The deletion itself takes the first step,
// and removes the user that deletes the room; so after it, only larger rooms have members left.
const GoneAtOnce = 1000

// queueGone makes the batch take the next step: members of a deleted room become gone. It skips members that another transaction has
// locked, so it waits for nobody, and the order of locks does not matter.
func queueGone(d Dialect, b *Batch, room string) {
	b.Exec(`with step as materialized (select m.user_id from members m where m.room_id = $1 and `+notGone+` limit $2`+d.LockFree()+`)
		update members set state = 'gone', role = 'member' where room_id = $1 and user_id in (select user_id from step)`, room, GoneAtOnce)
}

// DeletedRooms implements redpacket.Ledger. A transaction that sends a packet locks the room, as its deletion does. So a reader that
// sees a room as deleted also sees every packet that was sent into it.
func (t Tables) DeletedRooms(ctx context.Context, after string, limit int) (open []string, next string, err error) {
	page, err := list(ctx, t.db, "list deleted rooms", scanDeleted, DeletedRoomsQuery(t.db), after, limit)
	var done []string
	for _, room := range page {
		switch {
		case room.open:
			open = append(open, room.id)
		case !room.left:
			done = append(done, room.id)
		}
		if room.left {
			err = errors.Join(err, t.emptyRoom(ctx, room.id))
		}
	}
	if len(page) == limit {
		next = page[limit-1].id
	}
	if len(done) > 0 {
		err = errors.Join(err, t.markEmptied(ctx, done))
	}
	return open, next, Outcome("list deleted rooms", err)
}

// emptyRoom takes the next step of removing the members, the files and the words of a deleted room.
func (t Tables) emptyRoom(ctx context.Context, room string) error {
	return t.db.Write(ctx, func(w Tx) error {
		var b Batch
		queueGone(w, &b, room)
		queueDropOfRoom(w, &b, room)
		if err := dropWords(w, &b, room); err != nil {
			return err
		}
		return w.Send(&b)
	})
}

// markEmptied marks deleted rooms without open packets, members, files and words. It skips rooms that another transaction has locked: a
// later call of DeletedRooms lists them again.
func (t Tables) markEmptied(ctx context.Context, ids []string) error {
	return t.db.Write(ctx, func(w Tx) error {
		var b Batch
		b.Exec(`delete from room_rules where room_id `+w.In(1), w.List(ids))
		b.Exec(`delete from held_texts where room_id `+w.In(1), w.List(ids))
		b.Exec(`update rooms set emptied = true
			where id in (select id from rooms where id `+w.In(1)+` order by id`+w.LockFree()+`)`, w.List(ids))
		return w.Send(&b)
	})
}

// deletedRoom is a deleted room that is not marked emptied yet.
type deletedRoom struct {
	id   string
	open bool // it has open packets
	left bool // it has members that are not gone, or files that are not dropped
}

var scanDeleted = into(func(r *deletedRoom) []any { return []any{&r.id, &r.open, &r.left} })

// OpenInDeletedQuery lists the open packets of a room if the room is deleted, and none otherwise.
var OpenInDeletedQuery = FirstOnCitus(Of("p", "packets", `room_id = $1 and status = 'open'`)) + `select p.id, p.partition from /*one*/ packets /*end*/ p
	where p.room_id = $1 and p.status = 'open' and p.id > $2 and exists (select 1 from rooms r where r.id = $1 and r.deleted_at <> 0)
	order by p.id limit $3`

// OpenInDeleted implements redpacket.Ledger.
func (t Tables) OpenInDeleted(ctx context.Context, room, after string, limit int) ([]redpacket.Ref, error) {
	return list(ctx, t.db, "list open packets of a deleted room", scanRef, OpenInDeletedQuery, room, after, limit)
}

// scanRef scans the id and the partition of a packet.
var scanRef = into(func(r *redpacket.Ref) []any { return []any{&r.ID, &r.Partition} })
