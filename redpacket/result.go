package redpacket

import "time"

// Outcome of a grab. Each is an answer, not an error.
type Outcome string

// The outcomes.
const (
	OutcomeWon     Outcome = "won"     // by this very request, and committed
	OutcomeAlready Outcome = "already" // won before: the same share, for ever
	OutcomeEmpty   Outcome = "empty"   // all shares are gone
	OutcomeExpired Outcome = "expired" // too late, or cancelled
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
