package model

import (
	"time"

	"hongbao/web/wire"
)

// The possible outcomes of a grab.
const (
	Won         = "won"
	Already     = "already" // the user had won a share before, perhaps in a try that was not answered; the result has that share
	Empty       = "empty"
	Expired     = "expired"   // the packet has expired or was cancelled
	EnteredDraw = "entered"   // the user takes part in a draw, or in a wave of a rain
	Missed      = "missed"    // no wave of the rain can be entered now
	Elsewhere   = "elsewhere" // another account of the same person gets the share, or takes part: Grab.User
)

// Grab is the result of a grab. Amount, Rank and At are set for Won and Already. Balance is set only for Won, and may be
// missing there.
type Grab struct {
	Packet         string
	Outcome        string
	Amount         int64
	Rank           int
	At             time.Time
	Balance        *int64
	AccountVersion int64 // of Balance; see Account
	Claimed        int
	Count          int

	// Set for EnteredDraw. Keep the receipt: with it, the user can prove that the server has left them out of the draw.
	Participants int
	Wave         int // of a rain: which can be entered now
	Waiting      int // of Empty: shares that are held for other users; they are free to all later
	Receipt      *Receipt

	User string // set for Elsewhere: the other account
}

// GrabOf reads the result of a grab.
func GrabOf(r wire.GrabReply) Grab {
	return Grab{
		Packet: r.Packet, Outcome: r.Outcome, Amount: r.Amount, Rank: r.Rank, At: TimeOf(r.At), Balance: r.Balance, AccountVersion: r.AccountVersion,
		Claimed: r.Claimed, Count: r.Count, Participants: r.Participants, Wave: r.Wave, Waiting: r.Waiting, Receipt: r.Receipt, User: r.User,
	}
}
