package chat

import (
	"errors"
	"time"
)

// What can be wrong with a request. Each is one word of the wire; web/errors.go maps them all.
var (
	ErrBadRequest     = errors.New("bad_request")
	ErrTooLong        = errors.New("too_long")
	ErrLimitExceeded  = errors.New("limit_exceeded")
	ErrForbidden      = errors.New("forbidden")
	ErrNotFound       = errors.New("not_found")
	ErrNotMember      = errors.New("not_member")
	ErrMuted          = errors.New("muted")
	ErrBanned         = errors.New("banned")
	ErrKeyReused      = errors.New("key_reused")
	ErrConflict       = errors.New("conflict")
	ErrEditWindowOver = errors.New("edit_window_over")
	ErrRateLimited    = errors.New("rate_limited")
	// ErrRevoked means that the token was issued before all of its user's were revoked.
	ErrRevoked = errors.New("revoked")
	// ErrUnavailable means outcome unknown or not done: the same request again is always right.
	ErrUnavailable = errors.New("unavailable")
)

// FieldError says which field of a request is wrong. It unwraps to one of the sentinels above.
type FieldError struct {
	Err    error
	Field  string
	Reason string // for a person: "must be at least the count"
}

func (e *FieldError) Error() string { return e.Err.Error() + ": " + e.Field + " " + e.Reason }

func (e *FieldError) Unwrap() error { return e.Err }

// BadField is a FieldError of kind ErrBadRequest.
func BadField(field, reason string) error {
	return &FieldError{Err: ErrBadRequest, Field: field, Reason: reason}
}

// RateError is ErrRateLimited, with how long to wait.
type RateError struct{ After time.Duration }

func (e *RateError) Error() string { return ErrRateLimited.Error() + ": wait " + e.After.String() }

func (e *RateError) Unwrap() error { return ErrRateLimited }
