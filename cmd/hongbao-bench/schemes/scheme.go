package schemes

import (
	"context"
	"errors"
	"time"
)

// Scheme is one way of grabbing. The methods are safe for concurrent use; Run is called once.
type Scheme interface {
	// Open makes the packet grabbable.
	Open(ctx context.Context, p Packet) error
	// Grab answers as the scheme's code does. An error means that the scheme itself or an engine failed: its user would see an
	// error page, and whether the user has a share is unknown.
	Grab(ctx context.Context, packet, user string) (Answer, error)
	// Run does the scheme's background work (consumers, listeners, recovery) until ctx ends or the work fails. At the end of ctx,
	// a published scheme leaves queued work where it is.
	Run(ctx context.Context) error
	// Stored reads a packet from the database alone.
	Stored(ctx context.Context, packet string) (Book, error)
}

// ErrNotFound means that the scheme's tables have no such packet, or that the scheme stores nothing.
var ErrNotFound = errors.New("no such packet")

// Packet is a packet to grab.
type Packet struct {
	ID     string
	Sender string
	Shares []int64 // minor units; schemes that cut by themselves use only their sum and number
	TTL    time.Duration
}

// Total returns the sum of the shares.
func (p Packet) Total() (total int64) {
	for _, s := range p.Shares {
		total += s
	}
	return total
}

// Verdict is the answer to a grab.
type Verdict string

// The verdicts.
const (
	Got     Verdict = "got"     // a share of Answer.Amount
	Already Verdict = "already" // the user has a share
	Gone    Verdict = "gone"    // no share is left
	Unknown Verdict = "unknown" // expired, or never opened
	Nothing Verdict = "nothing" // no share, and the scheme gives no reason
	GaveUp  Verdict = "gave up" // all retries failed; shares may be left
)

// Answer is the answer to a grab.
type Answer struct {
	Verdict Verdict
	Amount  int64
	Retries int // how often the scheme started again
}

// Book is a packet in the database.
type Book struct {
	Paid     []Paid
	Left     int64 // neither paid nor refunded
	Refunded int64
}

// Paid is one stored grab.
type Paid struct {
	User   string
	Amount int64
}
