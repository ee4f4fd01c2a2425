package chat

import (
	"errors"
	"time"
)

// Errors of requests. Each has one error code on the wire; web/errors.go maps them.
var (
	ErrBadRequest    = errors.New("bad_request")
	ErrTooLong       = errors.New("too_long")
	ErrLimitExceeded = errors.New("limit_exceeded")
	ErrForbidden     = errors.New("forbidden")
	ErrNotFound      = errors.New("not_found")
	ErrNotMember     = errors.New("not_member")
	// ErrContactRefused means that a user does not want to be put into a room, or written to, by this user: the user
	// has left the room, one of the two has blocked the other, or the user's contact setting forbids it. The error
	// does not tell which.
	ErrContactRefused = errors.New("contact_refused")
	ErrMuted          = errors.New("muted")
	ErrBanned         = errors.New("banned")
	ErrKeyReused      = errors.New("key_reused")
	ErrConflict       = errors.New("conflict")
	ErrEditWindowOver = errors.New("edit_window_over")
	ErrRateLimited    = errors.New("rate_limited")
	// ErrRevoked means that the token was issued before its user's tokens were revoked.
	ErrRevoked = errors.New("revoked")
	// ErrSuspended means that the host has suspended the user: all of the user's tokens are refused until the user is reinstated.
	ErrSuspended = errors.New("suspended")
	// ErrUnavailable means that nothing was done, or that the outcome is unknown. The same request may always be
	// repeated.
	ErrUnavailable = errors.New("unavailable")
)

// FieldError names the wrong field of a request. It unwraps to one of the errors above.
type FieldError struct {
	Err    error
	Field  string
	Reason string // for a person: "must be at least the count"
	Limit  int    // the limit that was exceeded; 0: not said
}

func (e *FieldError) Error() string { return e.Err.Error() + ": " + e.Field + " " + e.Reason }

func (e *FieldError) Unwrap() error { return e.Err }

// BadField returns a FieldError that wraps ErrBadRequest.
func BadField(field, reason string) error {
	return &FieldError{Err: ErrBadRequest, Field: field, Reason: reason}
}

// RateError is ErrRateLimited with the time to wait before the next try.
type RateError struct{ After time.Duration }

func (e *RateError) Error() string { return ErrRateLimited.Error() + ": wait " + e.After.String() }

func (e *RateError) Unwrap() error { return ErrRateLimited }
