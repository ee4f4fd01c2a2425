package redpacket

import "time"

// Outcome says how a grab ended. Every outcome is an answer to the user, not an error.
type Outcome string

// The outcomes.
const (
	OutcomeWon     Outcome = "won"     // this request got a share, and the claim is committed
	OutcomeAlready Outcome = "already" // the user has won before: always the same share
	OutcomeEmpty   Outcome = "empty"   // no share is left
	OutcomeExpired Outcome = "expired" // the deadline has passed, or the packet was cancelled
	OutcomePending Outcome = "pending" // a share is granted but not committed; nothing is promised
)

// Result is the answer to a grab.
type Result struct {
	Packet  string
	Outcome Outcome
	Amount  Money // set for won and already
	Rank    int   // set for won and already; from 1
	At      time.Time
	Account *Account // set for won: the user's account after the payment
	Claimed int
	Count   int
}

// GrabRequest is one user's grab of a packet.
type GrabRequest struct {
	User       string
	Packet     string
	Passphrase string
}
