package chat

import (
	"errors"
	"time"
)

// RequestError is an error that the caller of a service may see. Its text is one word, such as not_found. Stores return such
// errors unchanged, and turn any other error into ErrUnavailable.
type RequestError string

func (e RequestError) Error() string { return string(e) }

// IsRequestError reports whether err is, or wraps, an error that the caller of a service may see.
func IsRequestError(err error) bool {
	var word RequestError
	return errors.As(err, &word)
}

// Errors of requests. Each has one error code on the wire; web/errors.go maps them.
var (
	ErrBadRequest    error = RequestError("bad_request")
	ErrTooLong       error = RequestError("too_long")
	ErrLimitExceeded error = RequestError("limit_exceeded")
	ErrForbidden     error = RequestError("forbidden")
	ErrNotFound      error = RequestError("not_found")
	ErrNotMember     error = RequestError("not_member")
	// ErrContactRefused means that a user does not want to be put into a room, or written to, by this user: the user
	// has left the room, one of the two has blocked the other, or the user's contact setting forbids it. The error
	// does not tell which.
	ErrContactRefused error = RequestError("contact_refused")
	ErrMuted          error = RequestError("muted")
	ErrBanned         error = RequestError("banned")
	ErrKeyReused      error = RequestError("key_reused")
	ErrConflict       error = RequestError("conflict")
	ErrEditWindowOver error = RequestError("edit_window_over")
	ErrRateLimited    error = RequestError("rate_limited")
	// ErrRevoked means that the token was issued before its user's tokens were revoked, or in the same second. Commands that
	// store a picture or a device code also return it for a suspended or unknown user.
	ErrRevoked error = RequestError("revoked")
	// ErrSuspended means that the host has suspended the user: all of the user's tokens are refused until the user is reinstated.
	ErrSuspended error = RequestError("suspended")
	// ErrUnavailable means that nothing was done, or that the outcome is unknown. The same request may always be
	// repeated.
	ErrUnavailable error = RequestError("unavailable")
)

// FieldError names the wrong field of a request. It unwraps to one of the errors above.
type FieldError struct {
	Err    error
	Field  string
	Reason string // for a person: "must be at least the count"
	Limit  int    // the limit that was exceeded; 0: none was, or the error does not tell it
	Cause  string // one word for programs, if the field can be wrong in several ways that users should tell apart, such as heic; "": none
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
