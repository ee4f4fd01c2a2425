package redpacket

import (
	"context"
	"time"
)

// Outcome of a grab. Each is an answer, not an error.
type Outcome string

// The outcomes.
const (
	OutcomeWon     Outcome = "won"     // by this very request, and committed
	OutcomeAlready Outcome = "already" // won before: the same share, for ever
	OutcomeEmpty   Outcome = "empty"   // all shares are gone
	OutcomeExpired Outcome = "expired" // too late, or cancelled
	OutcomePending Outcome = "pending" // granted, not yet committed; nothing is promised
)

// Result of a grab.
type Result struct {
	Packet  string
	Outcome Outcome
	Amount  Money // won, already
	Rank    int   // won, already; from 1
	At      time.Time
	Balance *Money // won: after it
	Claimed int
	Count   int
}

// Try is one user's grab of a packet.
type Try struct {
	User       string
	Packet     string
	Passphrase string

	// Admit is asked about the user before the Pool is; an error ends the grab. Nil: whoever comes.
	Admit func(ctx context.Context, user string) error
	// Waiter hears that the grab takes long. Nil: nobody wants to know.
	Waiter Waiter
}

// Waiter waits for a grab.
type Waiter interface {
	// Pending may be called once, after Options.PendingAfter, when the share is granted and its commit has not come. True: the
	// caller was told, so he hears the rest by a GrabDecided.
	Pending(r Result) (told bool)
}
