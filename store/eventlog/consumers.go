package eventlog

import (
	"context"
	"errors"
	"time"
)

// ErrLease means that another instance delivers to the consumer.
var ErrLease = errors.New("another instance delivers to this consumer")

// Consumer is a reader of the stream that the server knows by name.
type Consumer struct {
	Name      string
	After     string // a Cursor; "": from the oldest event on
	UpdatedAt time.Time
}

// Position names one event: the row and the index in it.
type Position struct {
	Chain, ID int64
	N         int
}

// Hold is an event that is held for a consumer. It waits to be delivered again, it waits behind an earlier event of its key, or it is
// parked.
type Hold struct {
	Key             string // see Event.Key
	No              int64  // rises with the order of the events; the store assigns it
	At              Position
	FirstAt, NextAt time.Time
	Tries           int
	Parked          bool   // given up: delivered again only if an operator asks for it; later events of its key do not wait for it
	Why             string // why the last try failed, or why the event is parked
}

// Consumers is the part of the SQL database that remembers how far readers have come, and the events that are held for them.
type Consumers interface {
	// Consumer returns a consumer, or chat.ErrNotFound.
	Consumer(ctx context.Context, name string) (Consumer, error)
	// ConsumerList returns at most limit consumers, by name.
	ConsumerList(ctx context.Context, limit int) ([]Consumer, error)
	// PutConsumer stores the position of a consumer, and creates it if there is none.
	PutConsumer(ctx context.Context, c Consumer) error

	// DeleteConsumer forgets a consumer, or returns chat.ErrNotFound.
	DeleteConsumer(ctx context.Context, name string) error

	// Lease makes the owner the only instance that delivers to the consumer, for the time ttl, and creates the consumer if there is none. It
	// fails with ErrLease while another owner has the lease. The clock of the database times the lease (SQLite: that of the process). now
	// is the UpdatedAt of a new consumer.
	Lease(ctx context.Context, consumer, owner string, ttl time.Duration, now time.Time) (Consumer, error)
	// Advance stores, in one transaction, how far the owner of the lease has come, and the events that are held from now on. If the stored
	// position is not before, Advance changes nothing: for example, an operator has moved it. It fails with ErrLease if another owner has
	// taken the lease.
	Advance(ctx context.Context, c Consumer, before, owner string, held []Hold) error

	// HeldKeys returns the keys with events that are held and not parked, and the number of these events.
	HeldKeys(ctx context.Context, consumer string) (keys []string, n int, err error)
	// DueHolds returns, for each of at most limit keys, the oldest event that is held and not parked, if it is due.
	DueHolds(ctx context.Context, consumer string, now time.Time, limit int) ([]Hold, error)
	// KeyHolds returns the oldest events of the key that are held and not parked, in order, at most limit.
	KeyHolds(ctx context.Context, consumer, key string, limit int) ([]Hold, error)
	// ParkedHolds returns the parked events whose No is greater than after, the oldest first, at most limit.
	ParkedHolds(ctx context.Context, consumer string, after int64, limit int) ([]Hold, error)
	// PutHold stores the new state of a hold: after a failed try, or when an operator has a parked event delivered again.
	PutHold(ctx context.Context, consumer string, h Hold) error
	// DropHold deletes the hold of an event that was delivered, or that is no longer stored.
	DropHold(ctx context.Context, consumer string, h Hold) error
	// EventsAt reads events by their positions. Events that were deleted, or cannot be read, are missing in the result.
	EventsAt(ctx context.Context, at []Position) (map[Position]Event, error)
}

// Pick returns a page with the events at these positions of the rows.
func Pick(rows []Row, at []Position) Page {
	wanted := map[Position]bool{}
	for _, p := range at {
		wanted[p] = true
	}
	var p Page
	for _, row := range rows {
		found, err := row.items(func(_ string, n int) bool { return wanted[Position{row.Chain, row.ID, n}] })
		if err != nil {
			p.batch.Faults = append(p.batch.Faults, err)
		}
		p.items = append(p.items, found...)
	}
	return p
}

// Picked returns the events of a page of Pick by their positions.
func (p Page) Picked(epoch string, f Facts) map[Position]Event {
	found := map[Position]Event{}
	for _, it := range p.items {
		if e, err := it.event(epoch, f); err == nil {
			found[e.Position] = e
		}
	}
	return found
}

// Lost reports whether the error says that another instance delivers to the consumer.
func Lost(err error) bool { return errors.Is(err, ErrLease) }
