package redpacket

import (
	"context"

	"hongbao/chat"
)

// Exports is the part of the Ledger from which a host's back end copies transfers into its own books.
type Exports interface {
	// LedgerAfter reads the transfers of all users that follow the cursor. No transfer is ever added before a cursor that was
	// given out, even if transactions overlap. The order is about that of the commits. Of two transfers of one user, the
	// later one may come first. The empty cursor is before the first transfer. A page may be empty although More is set.
	//
	// It returns ErrLedgerCursor for a text that is no cursor, and ErrLedgerEpoch for a cursor from
	// before the database was restored.
	LedgerAfter(ctx context.Context, cursor string, limit int) (LedgerPage, error)
}

// LedgerPage is a part of the ledger.
type LedgerPage struct {
	Transfers []LedgerTransfer
	Next      string // the cursor after this page
	More      bool   // there may be more transfers now
}

// LedgerTransfer is a transfer with its user, and with the fields that only claims, credits and debits have.
type LedgerTransfer struct {
	Transfer

	User  string
	Share int // of a claim: index of the share

	Actor, RequestID, Reason string // of a credit or debit
}

// ErrLedgerCursor is returned for a text that is no cursor of the ledger. It wraps chat.ErrBadRequest.
var ErrLedgerCursor = chat.BadField("after", "is no cursor of the ledger")

// ErrLedgerEpoch is returned for a cursor from before the database was restored. It wraps chat.ErrConflict.
var ErrLedgerEpoch error = &chat.FieldError{
	Err: chat.ErrConflict, Field: "after", Reason: "was given out before the database was restored: compare your data with the server's, and begin again",
}

// LedgerAfter reads transfers of all users: see Exports.
func (s *Service) LedgerAfter(ctx context.Context, cursor string, limit int) (LedgerPage, error) {
	return s.ledger.LedgerAfter(ctx, cursor, limit)
}
