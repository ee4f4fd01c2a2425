package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// ErrClosed is returned by calls and Events after Close.
var ErrClosed = errors.New("client closed")

// Error is an error that the server has answered. errors.Is compares only the code.
type Error struct {
	Code      wire.Code
	Values    map[string]string // the name=value pairs of the message, such as "field": "text"
	Temporary bool              // a repeated call may succeed; calls return such an error only if their context or the client ends
	Repeated  bool              // an earlier try got no answer, or a temporary error other than ErrRateLimited, and may have been executed
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

// Is reports whether target is an Error with the same code.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// Denial returns what the host says about a command that it has denied (ErrDenied): a text for the user, and JSON for the client.
// Either may be empty.
func (e *Error) Denial() (reason string, data json.RawMessage) {
	reason, _ = url.PathUnescape(e.Values["reason"])
	if text, err := url.PathUnescape(e.Values["data"]); err == nil && text != "" {
		data = json.RawMessage(text)
	}
	return reason, data
}

// retryAfter returns the wait that the server demands before the next try.
func (e *Error) retryAfter() time.Duration {
	ms, err := strconv.ParseInt(e.Values["retry_after_ms"], 10, 64)
	if err != nil || ms < 0 {
		return 0
	}
	return time.Duration(min(ms, int64(time.Hour/time.Millisecond))) * time.Millisecond
}

// newError decodes an error of a socket.
func newError(e *centrifuge.Error) *Error {
	return NewError(wire.Error{Code: wire.Code(e.Code), Message: e.Message, Temporary: e.Temporary})
}

// NewError decodes an error from the wire, such as the one of a response over HTTP. Its message is a word and then name=value pairs.
func NewError(e wire.Error) *Error {
	out := &Error{Code: e.Code, Temporary: e.Temporary, Values: map[string]string{}}
	for pair := range strings.FieldsSeq(e.Message) {
		if name, value, ok := strings.Cut(pair, "="); ok {
			out.Values[name] = value
		}
	}
	return out
}

// CloseError says that the server has closed or refused the connection, and that the client does not reconnect. errors.Is with
// ErrUnauthorized reports whether the token was the reason, with ErrSuspended whether the user is suspended.
type CloseError struct {
	Code   int // a close code from 3500 to 3999, or the code of the error that the connect command got
	Reason string
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("the server has ended the connection: %d %s", e.Code, e.Reason)
}

// Is reports whether target is the error that corresponds to the close code.
func (e *CloseError) Is(target error) bool {
	code := wire.Code(e.Code)
	switch e.Code {
	case wire.CloseInvalidToken, wire.CloseRevoked:
		code = wire.CodeUnauthorized
	case wire.CloseSuspended:
		code = wire.CodeSuspended
	}
	other, ok := target.(*Error)
	return ok && other.Code == code
}

// newCloseError converts the SDK's reason for not reconnecting. The codes 1 and 2 come from the SDK, not from the server.
func newCloseError(e centrifuge.DisconnectedEvent) *CloseError {
	switch e.Code {
	case 1:
		return &CloseError{Code: wire.CloseInvalidToken, Reason: e.Reason}
	case 2:
		return &CloseError{Code: wire.CloseProtocolError, Reason: e.Reason}
	}
	return &CloseError{Code: int(e.Code), Reason: e.Reason}
}
