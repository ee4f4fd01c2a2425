package redpacket

import (
	"strconv"
	"time"

	"hongbao/chat"
)

// A packet with an OpensAt is sent, paid for and told at once, and grabs of it are refused until then. The Pool says when that is, and of a
// draw the Ledger. So no user gets a share earlier than others by the clock of the instance. Until then the sender may cancel, because no
// user has a share.

// NotYetError means that the packet has not opened. It wraps ErrNotYet.
type NotYetError struct{ OpensAt time.Time }

func (e *NotYetError) Error() string {
	return ErrNotYet.Error() + " opens_at=" + strconv.FormatInt(e.OpensAt.UnixMilli(), 10)
}

func (e *NotYetError) Unwrap() error { return ErrNotYet }

// notYet returns the error for a grab of the packet before it opens.
func (p *Packet) notYet() error { return &NotYetError{OpensAt: p.OpensAt} }

// checkOpening checks when the packet is to open.
func (r SendRequest) checkOpening(l Limits, now time.Time) error {
	switch {
	case r.OpensAt.IsZero():
		return nil
	case !r.OpensAt.After(now):
		return chat.BadField("opens_at", "must be in the future")
	case r.OpensAt.After(now.Add(l.MaxAhead)):
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "opens_at", Reason: "must be at most " + l.MaxAhead.String() + " away"}
	}
	return nil
}
