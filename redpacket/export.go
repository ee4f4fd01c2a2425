package redpacket

import (
	"context"

	"hongbao/chat"
)

// Exports is the part of the Ledger that a host's back end reads for its own books.
type Exports interface {
	// LedgerAfter reads transfers of all users, in an order in which nothing is ever added before a cursor that was given out, however
	// transactions overlap. It is about the order of commits; of two transfers of one user, the later one may come first. The empty
	// cursor is before the first transfer. Transfers of a version without hash chains come once ChainRows has added them to one. It returns chat.ErrBadRequest for a text that is no cursor, and chat.ErrConflict for one from before the database
	// was restored. A page may be empty although More is set.
	LedgerAfter(ctx context.Context, cursor string, limit int) (LedgerPage, error)
}

// LedgerPage is a part of the ledger.
type LedgerPage struct {
	Transfers []LedgerTransfer
	Next      string // the cursor after this page
	More      bool   // there may be more transfers now
}

// LedgerTransfer is a transfer with all that is known of it.
type LedgerTransfer struct {
	Transfer

	User  string
	Share int // of a claim: index of the share

	Actor, RequestID, Reason string // of a credit or debit
}

// ErrLedgerCursor is returned for a text that is no cursor of the ledger.
var ErrLedgerCursor = chat.BadField("after", "is no cursor of the ledger")

// ErrLedgerEpoch is returned for a cursor from before the database was restored.
var ErrLedgerEpoch error = &chat.FieldError{
	Err: chat.ErrConflict, Field: "after", Reason: "was given out before the database was restored: compare your data with the server's, and begin again",
}

// LedgerAfter reads transfers of all users.
func (s *Service) LedgerAfter(ctx context.Context, cursor string, limit int) (LedgerPage, error) {
	return s.ledger.LedgerAfter(ctx, cursor, limit)
}
