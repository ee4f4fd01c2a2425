package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// These errors say that a stream cannot be read on from a cursor.
var (
	// ErrExpired means that events after the cursor were deleted.
	ErrExpired = errors.New("events after this cursor were deleted because of their age: begin again from oldest or newest")
	// ErrEpoch means that the cursor is of another epoch than the database: the database was restored, or has lost commits.
	ErrEpoch = errors.New("the database was restored after this cursor was given out: begin again from oldest or newest")
)

// Event is one event with its fact. At most one of Entry, Claim and Transfer is set. An event without any of them is about the Room or
// the User.
type Event struct {
	ID   string // unique over all epochs
	Kind string
	At   time.Time
	Room string // "": the event belongs to no room
	// User is the user whose wallet, membership or account the event is about. Of an entry, a claim or a report it is the user that made
	// it. Of UserOffline it is the absent user. "" if the event is only about a room.
	User string

	Entry    *chat.Entry
	Claim    *Claim
	Transfer *redpacket.Transfer
	Data     json.RawMessage

	Position Position
}

// Key names the room or the user of the event. The order of events holds for each key.
func (e Event) Key() string {
	if e.Room != "" && e.Kind != UserOffline {
		return "room " + e.Room
	}
	return "user " + e.User
}

// Claim is a share that a user has grabbed.
type Claim struct {
	Packet, Room, User, Transfer string
	Share                        int
	Amount                       redpacket.Money
	At                           time.Time
}

// Query asks for the events after a cursor.
type Query struct {
	After Cursor
	Kinds Kinds     // events of other kinds are left out
	Limit int       // the largest number of events
	Until time.Time // only rows before the first one that was written after this time; zero: all rows
}

// Batch is the answer to a Query.
type Batch struct {
	Events []Event
	Next   Cursor
	More   bool    // there may be more events now
	Faults []error // why rows or events were left out: they cannot be read, now or later
	Waits  error   // why the batch ends before an event whose fact is not visible yet; nil: it does not. See VisibleWithin
}

// VisibleWithin bounds how long a reader waits for what a row of the stream or a link refers to. Citus commits on the coordinator first, and on the
// workers a moment later; after a failure its recovery commits there, most often within a minute. Until then a reader must not move past the row:
// it would never read the event. After VisibleWithin the reader moves on, and reports what is missing.
const VisibleWithin = 10 * time.Minute

// Store is the SQL database that holds the stream.
type Store interface {
	// UseEvents sets the kinds that can be read: Kinds.Written of them are written. It is called before the store is used. Without it
	// nothing is written.
	UseEvents(kinds Kinds)
	// Events reads events in order. It fails with ErrExpired or ErrEpoch if it cannot read on from the cursor.
	Events(ctx context.Context, q Query) (Batch, error)
	// NewestEvent returns a cursor after all events that are committed, and OldestEvent one before all events that are kept.
	NewestEvent(ctx context.Context) (Cursor, error)
	OldestEvent(ctx context.Context) (Cursor, error)
	// PruneEvents deletes rows that are older than before. Of the other rows it keeps about the newest most. It returns the
	// number of rows that it has deleted, at most a few thousand of each chain: call it again while it returns more than 0. It also marks
	// how far the stream has come now. A row is deleted only if such a mark was made after the row. So PruneEvents must be called
	// regularly. It also deletes the holds of parked events whose rows are deleted.
	PruneEvents(ctx context.Context, now, before time.Time, most int64) (int64, error)
}

// EntryKey is the key by which engines load an entry.
type EntryKey struct {
	Room string
	Seq  int64
}

// ClaimKey is the key by which engines load a claim.
type ClaimKey struct {
	Packet string
	Share  int
}

// TransferKey is the key by which engines load a transfer of a wallet.
type TransferKey struct {
	User string
	At   int64
	ID   string
}

// Page is a part of the stream whose facts are not loaded yet.
type Page struct {
	items []item
	batch Batch
	until func(n int) Page // the same page, but with the first n items only
}

// Read takes at most as many events from the rows as the query asks for. The rows are in the order of ids, and begin after the cursor of
// the query. full says that there may be more rows. floor is the id up to which rows count as deleted.
func Read(q Query, epoch string, floor int64, rows []Row, full bool) Page {
	next := q.After.clone()
	next.Epoch = epoch
	p := Page{until: func(n int) Page {
		q.Limit = n
		return Read(q, epoch, floor, rows, full)
	}}
	for _, row := range rows {
		if !q.Until.IsZero() && row.At.After(q.Until) {
			return p.end(next, floor, false)
		}
		skip := 0
		if row.Chain == next.Chain && row.ID == next.ID {
			skip = next.N
		}
		found, err := row.items(func(kind string, n int) bool { return n >= skip && q.Kinds[kind] })
		if err != nil {
			p.batch.Faults = append(p.batch.Faults, err)
		}
		for _, it := range found {
			if len(p.items) == q.Limit {
				next.Chain, next.ID, next.N = row.Chain, row.ID, it.n
				return p.end(next, floor, true)
			}
			p.items = append(p.items, it)
		}
		next.Read[row.Chain] = row.ID
		if row.Chain == next.Chain && row.ID == next.ID {
			next.Chain, next.ID, next.N = 0, 0, 0
		}
	}
	return p.end(next, floor, full)
}

func (p Page) end(next Cursor, floor int64, more bool) Page {
	next.prune(floor)
	p.batch.Next, p.batch.More = next, more
	return p
}

// Needs returns the keys of the facts to load, each once.
func (p Page) Needs() (entries []EntryKey, claims []ClaimKey, transfers []TransferKey) {
	seen := map[any]bool{}
	for _, it := range p.items {
		switch {
		case it.entry.Seq > 0 && !seen[it.entry]:
			seen[it.entry] = true
			entries = append(entries, it.entry)
		case it.claim.Packet != "" && !seen[it.claim]:
			seen[it.claim] = true
			claims = append(claims, it.claim)
		case it.transfer.ID != "" && !seen[it.transfer]:
			seen[it.transfer] = true
			transfers = append(transfers, it.transfer)
		}
	}
	return entries, claims, transfers
}

// Facts are the loaded facts.
type Facts struct {
	Entries   map[EntryKey]chat.Entry
	Claims    map[ClaimKey]Claim
	Transfers map[TransferKey]redpacket.Transfer
}

// Batch returns the events with their facts. It ends before the first event whose fact was not found and whose row is younger than VisibleWithin.
// An older event without its fact becomes a fault.
func (p Page) Batch(f Facts, now time.Time) Batch {
	b := p.batch
	for n, it := range p.items {
		e, err := it.event(b.Next.Epoch, f)
		if err != nil && now.Sub(it.row.At) < VisibleWithin {
			b = p.until(n).Batch(f, now)
			b.More, b.Waits = false, err
			return b
		}
		if err != nil {
			b.Faults = append(b.Faults, err)
			continue
		}
		b.Events = append(b.Events, e)
	}
	return b
}

// event returns the event of the item with its loaded fact.
func (it item) event(epoch string, f Facts) (Event, error) {
	e := Event{
		ID:   fmt.Sprintf("%s-%d-%d", epoch[:min(10, len(epoch))], it.row.ID, it.n),
		Kind: it.kind, At: it.row.At, Room: it.room, User: it.user, Data: it.data,
		Position: Position{it.row.Chain, it.row.ID, it.n},
	}
	switch {
	case it.entry.Seq > 0:
		entry, ok := f.Entries[it.entry]
		if !ok {
			return Event{}, fmt.Errorf("event %s refers to entry %d of room %s, which is not stored", e.ID, it.entry.Seq, it.entry.Room)
		}
		e.Entry, e.Room = &entry, entry.Room
		if it.kind != UserOffline {
			e.At, e.User = entry.At, entry.From.ID
		}
	case it.claim.Packet != "":
		claim, ok := f.Claims[it.claim]
		if !ok {
			return Event{}, fmt.Errorf("event %s refers to the claim of share %d of packet %s, which is not stored", e.ID, it.claim.Share, it.claim.Packet)
		}
		e.At, e.User = claim.At, claim.User
		if it.kind == PacketClaimed {
			e.Claim, e.Room = &claim, claim.Room
			break
		}
		e.Transfer = &redpacket.Transfer{ID: claim.Transfer, At: claim.At, Amount: claim.Amount, Kind: redpacket.TransferClaim, Packet: claim.Packet}
	case it.transfer.ID != "":
		transfer, ok := f.Transfers[it.transfer]
		if !ok {
			return Event{}, fmt.Errorf("event %s refers to transfer %s of user %s, which is not stored", e.ID, it.transfer.ID, it.transfer.User)
		}
		e.Transfer, e.At, e.User = &transfer, transfer.At, it.transfer.User
	}
	return e, nil
}

func (c Cursor) clone() Cursor {
	c.Read = maps.Clone(c.Read)
	if c.Read == nil {
		c.Read = map[int64]int64{}
	}
	return c
}
