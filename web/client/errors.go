package client

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// What the server may answer, for errors.Is.
var (
	ErrInternal            = &Error{Code: wire.CodeInternal}
	ErrUnauthorized        = &Error{Code: wire.CodeUnauthorized}
	ErrForbidden           = &Error{Code: wire.CodeForbidden}
	ErrUnknownCommand      = &Error{Code: wire.CodeUnknownCommand}
	ErrBadRequest          = &Error{Code: wire.CodeBadRequest}
	ErrRateLimited         = &Error{Code: wire.CodeRateLimited}
	ErrUnavailable         = &Error{Code: wire.CodeUnavailable}
	ErrNotFound            = &Error{Code: wire.CodeNotFound}
	ErrNotMember           = &Error{Code: wire.CodeNotMember}
	ErrMuted               = &Error{Code: wire.CodeMuted}
	ErrBanned              = &Error{Code: wire.CodeBanned}
	ErrTooLong             = &Error{Code: wire.CodeTooLong}
	ErrLimitExceeded       = &Error{Code: wire.CodeLimitExceeded}
	ErrKeyReused           = &Error{Code: wire.CodeKeyReused}
	ErrConflict            = &Error{Code: wire.CodeConflict}
	ErrInsufficientBalance = &Error{Code: wire.CodeInsufficientBalance}
	ErrNotRecipient        = &Error{Code: wire.CodeNotRecipient}
	ErrWrongPassphrase     = &Error{Code: wire.CodeWrongPassphrase}
	ErrPacketFinished      = &Error{Code: wire.CodePacketFinished}
	ErrEditWindowOver      = &Error{Code: wire.CodeEditWindowOver}
)

// ErrClosed is what calls and events end with after Close.
var ErrClosed = errors.New("client closed")

// Error is what the server answered instead of a result. errors.Is compares the code alone.
type Error struct {
	Code      wire.Code
	Values    map[string]string // what follows the word of the message: "field": "text"
	Temporary bool              // asked again it may succeed: the last answer before the context was done
	Repeated  bool              // an earlier try was not answered, and may have done what was asked
}

func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.Code.Word())
	if e.Code.Word() == "" {
		text.WriteString("error " + strconv.Itoa(int(e.Code)))
	}
	if field := e.Values["field"]; field != "" {
		text.WriteString(": " + field)
	}
	return text.String()
}

// Is tells whether the target is an error of the same code.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// retryAfter is how long the server asks to wait.
func (e *Error) retryAfter() time.Duration {
	ms, err := strconv.ParseInt(e.Values["retry_after_ms"], 10, 64)
	if err != nil || ms < 0 {
		return 0
	}
	return time.Duration(min(ms, int64(time.Hour/time.Millisecond))) * time.Millisecond
}

// newError reads an error of the wire: a word, then pairs.
func newError(e *centrifuge.Error) *Error {
	out := &Error{Code: wire.Code(e.Code), Temporary: e.Temporary, Values: map[string]string{}}
	for pair := range strings.FieldsSeq(e.Message) {
		if name, value, ok := strings.Cut(pair, "="); ok {
			out.Values[name] = value
		}
	}
	return out
}

// CloseError says that the server does not want this client any more: errors.Is tells whether because of its
// token (ErrUnauthorized).
type CloseError struct {
	Code   int // 3500 to 3999, or the code of the error that refused to connect
	Reason string
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("the server has ended the connection: %d %s", e.Code, e.Reason)
}

// Is tells whether the target is what the close means.
func (e *CloseError) Is(target error) bool {
	code := wire.Code(e.Code)
	switch e.Code {
	case wire.CloseInvalidToken, wire.CloseRevoked:
		code = wire.CodeUnauthorized
	}
	other, ok := target.(*Error)
	return ok && other.Code == code
}

// newCloseError reads why the SDK does not come back; 1 and 2 are its own words.
func newCloseError(e centrifuge.DisconnectedEvent) *CloseError {
	switch e.Code {
	case 1:
		return &CloseError{Code: wire.CloseInvalidToken, Reason: e.Reason}
	case 2:
		return &CloseError{Code: wire.CloseProtocolError, Reason: e.Reason}
	}
	return &CloseError{Code: int(e.Code), Reason: e.Reason}
}
