package wire

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// Code is an error's number on the wire.
type Code uint32

// The codes of errors.
const (
	CodeInternal            Code = 100
	CodeUnauthorized        Code = 101
	CodeForbidden           Code = 103
	CodeUnknownCommand      Code = 104
	CodeBadRequest          Code = 107
	CodeTokenExpired        Code = 109
	CodeRateLimited         Code = 111
	CodeUnavailable         Code = 1000
	CodeNotFound            Code = 1001
	CodeNotMember           Code = 1002
	CodeMuted               Code = 1003
	CodeBanned              Code = 1004
	CodeTooLong             Code = 1005
	CodeLimitExceeded       Code = 1006
	CodeKeyReused           Code = 1007
	CodeConflict            Code = 1008
	CodeInsufficientBalance Code = 1009
	CodeNotRecipient        Code = 1010
	CodeWrongPassphrase     Code = 1011
	CodePacketFinished      Code = 1012
	CodeEditWindowOver      Code = 1013
	CodeJoinedLater         Code = 1014
	CodeNotYet              Code = 1015
	CodeContactRefused      Code = 1020
	CodeSuspended           Code = 1021
	CodeWalletFrozen        Code = 1030
	CodeDenied              Code = 1040
)

// Codes that only commands of the Centrifugo protocol itself, such as subscribe, are answered with. They are never used
// over HTTP.
const (
	CodeAlreadySubscribed Code = 105
	CodeNotAvailable      Code = 108
)

// codes holds, for each error code, its word, its HTTP status, whether repeating the request may succeed, and what it means.
var codes = map[Code]struct {
	word      string
	status    int
	temporary bool
	meaning   string // for the documents
}{
	CodeInternal:            {"internal", 500, true, "a fault of the server; `internal id=<id>` names the line in the server's log"},
	CodeUnauthorized:        {"unauthorized", 401, false, "the token is missing or bad"},
	CodeForbidden:           {"forbidden", 403, false, "the role or a setting of the room does not allow it, or the scope is missing"},
	CodeUnknownCommand:      {"unknown_command", 404, false, "no such method"},
	CodeAlreadySubscribed:   {"already_subscribed", 400, false, "of the envelope: see connect.md"},
	CodeBadRequest:          {"bad_request", 400, false, "a field is missing, of the wrong type, not an integer or out of its range; unknown mode or spread; total < count"},
	CodeNotAvailable:        {"not_available", 400, false, "of the envelope: see connect.md"},
	CodeTokenExpired:        {"token_expired", 401, false, "get a new token"},
	CodeRateLimited:         {"rate_limited", 429, true, "wait `retry_after_ms`"},
	CodeUnavailable:         {"unavailable", 503, true, "a part of the system is out of reach"},
	CodeNotFound:            {"not_found", 404, false, "unknown, or not for this user to know"},
	CodeNotMember:           {"not_member", 403, false, "the user is not in the room"},
	CodeMuted:               {"muted", 403, false, "the user may not write for now"},
	CodeBanned:              {"banned", 403, false, "the user may not come in"},
	CodeTooLong:             {"too_long", 400, false, "a text is over its limit"},
	CodeLimitExceeded:       {"limit_exceeded", 422, false, "over a configured maximum: total, count, ttl, members, rooms, open packets"},
	CodeKeyReused:           {"key_reused", 409, false, "the key was used with other content"},
	CodeConflict:            {"conflict", 409, false, "the state has changed: another commitment, a recalled text"},
	CodeInsufficientBalance: {"insufficient_balance", 422, false, "the wallet has less than the total"},
	CodeNotRecipient:        {"not_recipient", 403, false, "the packet is for other users"},
	CodeWrongPassphrase:     {"wrong_passphrase", 403, false, "the packet has another passphrase"},
	CodePacketFinished:      {"packet_finished", 409, false, "it cannot be cancelled any more"},
	CodeEditWindowOver:      {"edit_window_over", 409, false, "2 minutes have passed"},
	CodeJoinedLater:         {"joined_later", 403, false, "the packet is for members that joined before it was sent"},
	CodeNotYet:              {"not_yet", 409, false, "the packet opens at `opens_at`, in Unix milliseconds"},
	CodeContactRefused:      {"contact_refused", 403, false, "a user has left, has blocked the caller or is blocked, does not want this contact, or is unknown; the error does not tell which"},
	CodeSuspended:           {"suspended", 403, false, "the host has suspended the user; over a socket close 3505 says so"},
	CodeWalletFrozen:        {"wallet_frozen", 403, false, "the wallet may not spend; it still receives"},
	CodeDenied:              {"denied", 403, false, "the host has denied the command: see below"},
}

// Word returns the first word of the error's message.
func (c Code) Word() string { return codes[c].word }

// Status returns the error's HTTP status.
func (c Code) Status() int { return codes[c].status }

// Temporary reports whether repeating the request may succeed. The request may have been carried out all the same. Repeating a
// grab, or a request with a key, is safe.
func (c Code) Temporary() bool { return codes[c].temporary }

// Meaning returns what the error means, for the documents.
func (c Code) Meaning() string { return codes[c].meaning }

// Error is an error as the client, or the host's back end, receives it.
type Error struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"` // the code's word, then " name=value" pairs
	Temporary bool   `json:"temporary"`

	// Of a command that the host has denied. Only JSON has these fields; the message has both, too.
	Reason string          `json:"reason,omitempty"` // for the user
	Data   json.RawMessage `json:"data,omitempty"`   // for the client
}

// NewDenial returns the error of a command that the host has denied. Its message has the reason and the data percent-encoded, because
// clients of the Centrifugo protocol know only the fields code, message and temporary of an error.
func NewDenial(reason string, data json.RawMessage) Error {
	var pairs []string
	if reason != "" {
		pairs = append(pairs, "reason", url.PathEscape(reason))
	}
	if data != nil {
		pairs = append(pairs, "data", url.PathEscape(string(data)))
	}
	e := NewError(CodeDenied, pairs...)
	e.Reason, e.Data = reason, data
	return e
}

// NewError returns the error for a code. pairs are alternating names and values, which must not contain spaces.
func NewError(c Code, pairs ...string) Error {
	var msg strings.Builder
	msg.WriteString(c.Word())
	for i := 0; i+1 < len(pairs); i += 2 {
		msg.WriteString(" " + pairs[i] + "=" + pairs[i+1])
	}
	return Error{Code: c, Message: msg.String(), Temporary: c.Temporary()}
}

func (e Error) Error() string { return strconv.Itoa(int(e.Code)) + " " + e.Message }

// ErrorBody is the body of the HTTP response to a request that has failed: of a command, of an endpoint, or of an operation of the
// server API.
type ErrorBody struct {
	Error Error `json:"error"`
}

// Close is the code and reason of a WebSocket close frame. After a code below 3500 clients reconnect automatically;
// after the other close codes of this package they do not.
type Close struct {
	Code   int
	Reason string
}

// The close codes.
const (
	CloseDrain            = 3001
	CloseServerError      = 3004
	CloseTokenExpired     = 3005
	CloseTooSlow          = 3008
	CloseNoPong           = 3012
	CloseTooManyCommands  = 3013
	CloseStateInvalidated = 3014
	CloseInvalidToken     = 3500
	CloseProtocolError    = 3501
	CloseNoConnect        = 3502
	CloseRevoked          = 3503
	ClosePushedOut        = 3504
	CloseSuspended        = 3505
)

// CloseFor returns the close code with its reason.
func CloseFor(code int) Close { return Close{Code: code, Reason: closes[code].reason} }

// Meaning returns what the close code means, for the documents.
func (c Close) Meaning() string { return closes[c.Code].meaning }

var closes = map[int]struct{ reason, meaning string }{
	CloseDrain:            {"drain", "the server stops; reconnect elsewhere"},
	CloseServerError:      {"server error", "a fault of the server"},
	CloseTokenExpired:     {"token expired", "get a new token first"},
	CloseTooSlow:          {"too slow", "the connection did not take its publications; it recovers"},
	CloseNoPong:           {"no pong", "no pong and no other frame within 8 s of a ping; or a message still incomplete after 30 s"},
	CloseTooManyCommands:  {"too many commands", "sustained abuse of the rates, or of an address's budget"},
	CloseStateInvalidated: {"state invalidated", "the database has lost entries or was restored; forget all offsets and connect again; some SDKs also fetch a new token"},
	CloseInvalidToken:     {"invalid token", "sign in again"},
	CloseProtocolError:    {"protocol error", "a fault of the client program"},
	CloseNoConnect:        {"no connect in time", "`connect` did not arrive within 8 s"},
	CloseRevoked:          {"revoked", "an administrator disconnected the user"},
	ClosePushedOut:        {"pushed out by a newer socket", "the user opened an 11th socket"},
	CloseSuspended:        {"suspended", "the host has suspended the user; no token of the user is accepted"},
}
