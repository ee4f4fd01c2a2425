package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// errUnauthorized is the error of a request without a valid token.
var errUnauthorized = errors.New("unauthorized")

// errorTable maps each error of the services to its code on the wire. An error that wraps none of these becomes "internal",
// unless it is a wire.Error, which has its own code. If an error wraps several of these, the first in the table counts.
var errorTable = []struct {
	err  error
	code wire.Code
}{
	{chat.ErrSuspended, wire.CodeSuspended}, // before auth.ErrInvalid: an error of a session wraps both
	{errUnauthorized, wire.CodeUnauthorized},
	{auth.ErrInvalid, wire.CodeUnauthorized},
	{auth.ErrExpired, wire.CodeTokenExpired},
	{api.ErrUnknownCommand, wire.CodeUnknownCommand},
	{api.ErrDenied, wire.CodeDenied},
	{chat.ErrAgainstRules, wire.CodeDenied},

	{chat.ErrBadRequest, wire.CodeBadRequest},
	{chat.ErrTooLong, wire.CodeTooLong},
	{chat.ErrLimitExceeded, wire.CodeLimitExceeded},
	{chat.ErrForbidden, wire.CodeForbidden},
	{chat.ErrNotFound, wire.CodeNotFound},
	{chat.ErrNotMember, wire.CodeNotMember},
	{chat.ErrMuted, wire.CodeMuted},
	{chat.ErrBanned, wire.CodeBanned},
	{chat.ErrContactRefused, wire.CodeContactRefused},
	{chat.ErrKeyReused, wire.CodeKeyReused},
	{chat.ErrConflict, wire.CodeConflict},
	{redpacket.ErrLedgerCursor, wire.CodeBadRequest},
	{redpacket.ErrLedgerEpoch, wire.CodeConflict},
	{chat.ErrEditWindowOver, wire.CodeEditWindowOver},
	{chat.ErrRateLimited, wire.CodeRateLimited},
	{chat.ErrRevoked, wire.CodeUnauthorized},
	{chat.ErrUnavailable, wire.CodeUnavailable},

	{redpacket.ErrInsufficientBalance, wire.CodeInsufficientBalance},
	{redpacket.ErrWalletFrozen, wire.CodeWalletFrozen},
	{redpacket.ErrNotRecipient, wire.CodeNotRecipient},
	{redpacket.ErrJoinedLater, wire.CodeJoinedLater},
	{redpacket.ErrNotYet, wire.CodeNotYet},
	{redpacket.ErrWrongPassphrase, wire.CodeWrongPassphrase},
	{redpacket.ErrPacketFinished, wire.CodePacketFinished},

	// The request was cancelled or timed out, so its outcome is unknown.
	{context.Canceled, wire.CodeUnavailable},
	{context.DeadlineExceeded, wire.CodeUnavailable},
}

// errorCodes converts errors to what clients receive. It implements session.Errors.
type errorCodes struct {
	log     *slog.Logger
	outages outages
}

// Code implements session.Errors.
func (e *errorCodes) Code(err error) (code wire.Code, known bool) {
	for _, row := range errorTable {
		if errors.Is(err, row.err) {
			return row.code, true
		}
	}
	return 0, false
}

// Failure implements session.Errors. It returns a wire.Error unchanged, and a denial of the host with its reason and data. An
// error that is not in the table gets a random id. The id is in the log line and in the error that the client receives.
func (e *errorCodes) Failure(err error) wire.Error {
	var ready wire.Error
	if errors.As(err, &ready) {
		return ready
	}
	if denied := new(api.DeniedError); errors.As(err, &denied) {
		return wire.NewDenial(denied.Reason, denied.Data)
	}
	if against := new(chat.RuleError); errors.As(err, &against) {
		return denialOf(against)
	}
	code, ok := e.Code(err)
	if !ok {
		id := rand.Text()[:12]
		e.log.Error("internal error", "id", id, "err", err)
		return wire.NewError(wire.CodeInternal, "id", id)
	}
	if code == wire.CodeUnavailable {
		e.outages.note(err, e.log)
	}
	return wire.NewError(code, pairsOf(err)...)
}

// denialOf returns the denial of a text that is against a rule of the room or of the installation. Its data names the rule.
func denialOf(e *chat.RuleError) wire.Error {
	data := wire.RuleDenial{Rule: string(e.Rule), Held: e.Held}
	if !e.Until.IsZero() {
		data.Until = e.Until.UnixMilli()
	}
	text, err := json.Marshal(data)
	if err != nil {
		text = nil // strings and numbers are always encoded
	}
	return wire.NewDenial(e.Say, text)
}

// outages counts requests that are answered with "unavailable". It logs the count at most once a second, to limit the size of
// the log.
type outages struct {
	count  atomic.Int64 // requests since the last log line
	logged atomic.Int64 // Unix seconds of the last log line
}

func (o *outages) note(err error, log *slog.Logger) {
	o.count.Add(1)
	now := time.Now().Unix()
	if last := o.logged.Load(); last != now && o.logged.CompareAndSwap(last, now) {
		log.Warn("unavailable", "requests", o.count.Swap(0), "err", err)
	}
}

// pairsOf returns the details of an error that clients receive, as the name and value pairs of wire.NewError.
func pairsOf(err error) []string {
	var field *chat.FieldError
	var commitment *redpacket.CommitmentError
	var rate *chat.RateError
	var early *redpacket.NotYetError
	switch {
	case errors.As(err, &rate):
		return []string{"retry_after_ms", strconv.FormatInt(roundedUp(rate.After, time.Millisecond), 10)}
	case errors.As(err, &field) && field.Limit > 0:
		return []string{"field", field.Field, "limit", strconv.Itoa(field.Limit)}
	case errors.As(err, &field) && field.Cause != "":
		return []string{"field", field.Field, "cause", field.Cause}
	case errors.As(err, &field):
		return []string{"field", field.Field}
	case errors.As(err, &early):
		return []string{"opens_at", strconv.FormatInt(early.OpensAt.UnixMilli(), 10)}
	case errors.As(err, &commitment) && commitment.Packet != "":
		return []string{"next_commitment", commitment.Next, "packet", commitment.Packet}
	case errors.As(err, &commitment):
		return []string{"next_commitment", commitment.Next}
	}
	return nil
}

// roundedUp returns a wait in whole units, rounded up, at least one. A client that retried earlier would be refused again.
func roundedUp(d, unit time.Duration) int64 { return int64(max((d+unit-1)/unit, 1)) }
