// Package trail keeps which grabs were refused, and why, and when sockets of users were opened and how they ended: for the person that answers
// "I did not get my packet".
//
// It must always hold:
//
//   - No answer to a user waits for it: Refused, SocketOpened and SocketEnded take a short lock at most, and drop what does not fit.
//   - Each of its two kinds of rows is bounded: in memory by maxQueue, in writes by perRound, for each user by perUser rows an hour, in the database
//     by Keep and Most.
//   - A user has one refusal for each packet and reason: the first.
//
// One goroutine, Recorder.Run, writes and deletes rows. A row that is not written is counted as dropped.
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

// SocketEvent is that a socket of a user was opened, or ended.
type SocketEvent struct {
	User   string
	Socket string // its id
	At     time.Time
	// What is SocketOpened, SocketLeft, SocketLost or SocketClosed.
	What string
	Code int // of SocketClosed: the close code that the server has sent
}

// What may happen to a socket. If an instance is killed, the ends of its sockets are missing.
const (
	SocketOpened = "opened"
	SocketLeft   = "left"   // the client has closed it
	SocketLost   = "lost"   // the connection was lost
	SocketClosed = "closed" // the server has closed it
)

// Bounds of what is stored.
const (
	Keep = 7 * 24 * time.Hour
	Most = 5_000_000 // about how many rows of each kind are kept
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

	// AddSockets adds what has happened to sockets.
	AddSockets(ctx context.Context, events []SocketEvent) error
	// DropSockets is DropRefusals for what has happened to sockets.
	DropSockets(ctx context.Context, before time.Time, most, limit int) (int, error)
	// SocketsOf is RefusalsOf for what has happened to sockets of a user.
	SocketsOf(ctx context.Context, user, after string, limit int) (events []SocketEvent, next string, err error)
}
