// Package trail keeps which grabs were refused, and why: for the person that answers "I did not get my packet".
//
// It must always hold:
//
//   - The answer to a grab never waits for it: Refused takes a short lock at most, and drops what does not fit.
//   - It is bounded: in memory by maxQueue, in writes by perRound, for each user by perUser rows an hour, in the database by Keep and Most.
//   - A user has one row for each packet and reason: that of the first refusal.
//
// One goroutine, Recorder.Run, writes and deletes rows. A refusal that is not written is counted in Stats.
package trail

import (
	"context"
	"time"
)

// Refusal is a grab that got no share.
type Refusal struct {
	User   string
	Packet string
	At     time.Time
	// Why is empty, expired, or the text of the error that the user got, such as wrong_passphrase.
	Why string
}

// Bounds of what is stored.
const (
	Keep = 7 * 24 * time.Hour
	Most = 5_000_000 // about how many rows are kept
)

// Store is the SQL database.
type Store interface {
	// AddRefusals adds refusals. If there is one of the same user, packet and reason, it stays as it is.
	AddRefusals(ctx context.Context, refusals []Refusal) error
	// DropRefusals deletes, at most limit at a time, the refusals from before the given time, and the oldest ones if there are about more than most. It
	// returns how many it has deleted.
	DropRefusals(ctx context.Context, before time.Time, most, limit int) (int, error)
	// RefusalsOf returns at most limit refusals of a user, newest first, from a cursor on; "" is the beginning. next is the cursor of the following
	// page; "": there is none. For a text that is no cursor it returns chat.ErrBadRequest.
	RefusalsOf(ctx context.Context, user, after string, limit int) (refusals []Refusal, next string, err error)
	// RefusalsAt is RefusalsOf for a packet, oldest first.
	RefusalsAt(ctx context.Context, packet, after string, limit int) (refusals []Refusal, next string, err error)
}
