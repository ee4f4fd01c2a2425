package schemes

import (
	"context"
	"errors"
	"time"
)

// Scheme is one way of grabbing. All methods may be called by many goroutines at once.
type Scheme interface {
	// Open makes the packet grabbable.
	Open(ctx context.Context, p Packet) error
	// Grab answers as the scheme's code does. An error means that the scheme itself or an engine failed: its user
	// would see an error page, and whether he has a share is unknown.
	Grab(ctx context.Context, packet, user string) (Answer, error)
	// Run does what the scheme does beside its answers (consumers, listeners, recovery) until ctx is done. What
	// still waits then stays where it is.
	Run(ctx context.Context) error
	// Stored reads what the database, and nothing else, knows of the packet.
	Stored(ctx context.Context, packet string) (Book, error)
}

// ErrNotFound means that the scheme's tables have no such packet.
var ErrNotFound = errors.New("no such packet")

// Packet is what is to be grabbed.
type Packet struct {
	ID     string
	Sender string
	Shares []int64 // minor units; schemes that cut by themselves use only their sum and number
	TTL    time.Duration
}

// Total of the shares.
func (p Packet) Total() (total int64) {
	for _, s := range p.Shares {
		total += s
	}
	return total
}

// Verdict is what a grabber hears.
type Verdict string

// The verdicts.
const (
	Got     Verdict = "got"     // a share, of Answer.Amount
	Already Verdict = "already" // he has one
	Gone    Verdict = "gone"    // no share is left
	Unknown Verdict = "unknown" // expired, or never there
	Nothing Verdict = "nothing" // no share, and the scheme does not say why
	GaveUp  Verdict = "gave up" // retried as often as it may; shares may be left
)

// Answer to a grab.
type Answer struct {
	Verdict Verdict
	Amount  int64
	Retries int // how often the scheme had to begin anew
}

// Book is a packet in the database.
type Book struct {
	Paid     []Paid
	Left     int64 // not paid, and not refunded
	Refunded int64
}

// Paid is one stored grab.
type Paid struct {
	User   string
	Amount int64
}
