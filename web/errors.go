package web

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// What can be wrong before a request reaches a domain package; see also errTokenInvalid.
var (
	errUnauthorized   = errors.New("unauthorized")
	errTokenExpired   = errors.New("token expired")
	errUnknownCommand = errors.New("unknown command")
)

// errorTable says which code each sentinel is on the wire. What is not in it is internal. The order
// counts only for an error that wraps two of them: the first one found wins.
var errorTable = []struct {
	err  error
	code wire.Code
}{
	{errUnauthorized, wire.CodeUnauthorized},
	{errTokenInvalid, wire.CodeUnauthorized},
	{errTokenExpired, wire.CodeTokenExpired},
	{errUnknownCommand, wire.CodeUnknownCommand},

	{chat.ErrBadRequest, wire.CodeBadRequest},
	{chat.ErrTooLong, wire.CodeTooLong},
	{chat.ErrLimitExceeded, wire.CodeLimitExceeded},
	{chat.ErrForbidden, wire.CodeForbidden},
	{chat.ErrNotFound, wire.CodeNotFound},
	{chat.ErrNotMember, wire.CodeNotMember},
	{chat.ErrMuted, wire.CodeMuted},
	{chat.ErrBanned, wire.CodeBanned},
	{chat.ErrKeyReused, wire.CodeKeyReused},
	{chat.ErrConflict, wire.CodeConflict},
	{chat.ErrEditWindowOver, wire.CodeEditWindowOver},
	{chat.ErrRateLimited, wire.CodeRateLimited},
	{chat.ErrRevoked, wire.CodeUnauthorized},
	{chat.ErrUnavailable, wire.CodeUnavailable},

	{redpacket.ErrInsufficientBalance, wire.CodeInsufficientBalance},
	{redpacket.ErrNotRecipient, wire.CodeNotRecipient},
	{redpacket.ErrWrongPassphrase, wire.CodeWrongPassphrase},
	{redpacket.ErrPacketFinished, wire.CodePacketFinished},

	// The caller went away or ran out of time: nobody knows what was done.
	{context.Canceled, wire.CodeUnavailable},
	{context.DeadlineExceeded, wire.CodeUnavailable},
}

// outages counts the requests that an outage has cost, and has them logged once a second: the log of an outage must
// not become one itself.
type outages struct {
	count  atomic.Int64 // since they were logged
	logged atomic.Int64 // when, in seconds
}

func (o *outages) note(err error, log *slog.Logger) {
	o.count.Add(1)
	now := time.Now().Unix()
	if last := o.logged.Load(); last != now && o.logged.CompareAndSwap(last, now) {
		log.Warn("unavailable", "requests", o.count.Swap(0), "err", err)
	}
}

// wireError is the error as a client hears it. What clients cannot mend is logged, with an id that both
// the log and the client have.
func wireError(err error, log *slog.Logger, o *outages) wire.Error {
	code, ok := codeOf(err)
	if !ok {
		id := rand.Text()[:12]
		log.Error("internal error", "id", id, "err", err)
		return wire.NewError(wire.CodeInternal, "id", id)
	}
	if code == wire.CodeUnavailable {
		o.note(err, log)
	}
	return wire.NewError(code, pairsOf(err)...)
}

func codeOf(err error) (code wire.Code, ok bool) {
	for _, row := range errorTable {
		if errors.Is(err, row.err) {
			return row.code, true
		}
	}
	return 0, false
}

// pairsOf are the names and values that follow the word in an error's message.
func pairsOf(err error) []string {
	var field *chat.FieldError
	var commitment *redpacket.CommitmentError
	var rate *chat.RateError
	switch {
	case errors.As(err, &rate):
		return []string{"retry_after_ms", strconv.FormatInt(roundedUp(rate.After, time.Millisecond), 10)}
	case errors.As(err, &field):
		return []string{"field", field.Field}
	case errors.As(err, &commitment):
		return []string{"next_commitment", commitment.Next}
	}
	return nil
}

// roundedUp is a wait in whole units, of which there is at least one: who comes too early is refused again.
func roundedUp(d, unit time.Duration) int64 { return int64(max((d+unit-1)/unit, 1)) }
