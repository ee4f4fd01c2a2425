package chat

import (
	"context"
	"time"
	"unicode/utf8"
)

// HoldKind says what a legal hold is about.
type HoldKind string

// The kinds of holds.
const (
	HoldUser HoldKind = "user"
	HoldRoom HoldKind = "room"
)

// LegalHold is a legal hold: what the user or the room has written must stay, whatever an erasure says.
type LegalHold struct {
	Kind   HoldKind
	ID     string
	At     time.Time
	Actor  string // the key or administrator that has set it
	Reason string
}

// LegalHoldQuery selects legal holds. The zero value selects all.
type LegalHoldQuery struct {
	Kind  HoldKind
	Next  string // cursor of the page; "": the first one
	Limit int    // 0: recordsPage
}

// LegalHoldStore keeps legal holds.
type LegalHoldStore interface {
	// PutLegalHold stores a hold and returns it. A hold of the same user or room that is there already stays, and is returned. ErrNotFound: there is
	// no such user or room.
	PutLegalHold(ctx context.Context, h LegalHold) (LegalHold, error)
	// DropLegalHold ends a hold, if there is one.
	DropLegalHold(ctx context.Context, kind HoldKind, id string) error
	// LegalHolds lists holds in the order of kind and id. q.Next and more are cursors, as in FindRooms.
	LegalHolds(ctx context.Context, q LegalHoldQuery) (holds []LegalHold, more string, err error)
}

// maxHoldReason is the largest number of code points of the reason of a hold, as of the reason of an act.
const maxHoldReason = 200

func checkHold(kind HoldKind, id string) error {
	switch kind {
	case HoldUser:
		return CheckUser("id", id)
	case HoldRoom:
		return checkID("id", id)
	}
	return BadField("kind", "must be user or room")
}

// CheckReason returns an error unless somebody has said why something is done.
func CheckReason(reason string) error {
	switch n := utf8.RuneCountInString(reason); {
	case n == 0:
		return BadField("reason", "is missing: say why, in the query")
	case n > maxHoldReason:
		return tooLong("reason", maxHoldReason)
	}
	return nil
}

// PutLegalHold sets a legal hold. An erasure of the user, or of a user that has been in the room, is then refused, and one that is under way
// stops before its next step. A hold that is there already stays as it is.
func (s *Service) PutLegalHold(ctx context.Context, h LegalHold) (LegalHold, error) {
	if err := checkHold(h.Kind, h.ID); err != nil {
		return LegalHold{}, err
	}
	if err := CheckReason(h.Reason); err != nil {
		return LegalHold{}, err
	}
	h.At = s.now()
	return s.store.PutLegalHold(ctx, h)
}

// DropLegalHold ends a legal hold. Erasures that it has stopped go on within a minute.
func (s *Service) DropLegalHold(ctx context.Context, kind HoldKind, id string) error {
	if err := checkHold(kind, id); err != nil {
		return err
	}
	return s.store.DropLegalHold(ctx, kind, id)
}

// LegalHolds lists legal holds. more is the cursor of the following page; "" if there is none.
func (s *Service) LegalHolds(ctx context.Context, q LegalHoldQuery) (holds []LegalHold, more string, err error) {
	if q.Kind != "" && q.Kind != HoldUser && q.Kind != HoldRoom {
		return nil, "", BadField("kind", "must be user or room")
	}
	if q.Limit, err = recordsLimit(q.Limit); err != nil {
		return nil, "", err
	}
	return s.store.LegalHolds(ctx, q)
}
