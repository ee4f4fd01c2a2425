package pgstore

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/chat"
	"hongbao/redpacket"
)

// outcome is how an error leaves the store: what the domain packages have a word for passes as it is, all
// else is the engine's failure. Going by the words, and not by the engine's many error types, makes sure
// that none of those ever looks like a refusal.
func outcome(doing string, err error) error {
	if err == nil || refusal(err) {
		return err
	}
	return unavailable(doing, err)
}

// refusal tells whether the error is a domain's answer, FieldError and CommitmentError among them: they
// unwrap to a sentinel.
func refusal(err error) bool {
	for _, word := range []error{
		chat.ErrBadRequest, chat.ErrTooLong, chat.ErrLimitExceeded, chat.ErrForbidden, chat.ErrNotFound,
		chat.ErrNotMember, chat.ErrMuted, chat.ErrBanned, chat.ErrKeyReused, chat.ErrConflict, chat.ErrEditWindowOver, chat.ErrUnavailable,
		redpacket.ErrInsufficientBalance, redpacket.ErrNotRecipient, redpacket.ErrWrongPassphrase, redpacket.ErrPacketFinished,
	} {
		if errors.Is(err, word) {
			return true
		}
	}
	return false
}

// unavailable wraps a driver's failure, so that callers see one sentinel and logs the whole story.
func unavailable(doing string, err error) error {
	return fmt.Errorf("%s: %w: %w", doing, chat.ErrUnavailable, err)
}

var (
	// errAgain says that the transaction met one of its like: rolled back and run again, it will see what that did.
	errAgain = errors.New("overtaken by another transaction")
	// errPatience ends what has tried for as long as a call may.
	errPatience = errors.New("no answer in time")
	// errLost says that the connection has gone. What was under way may have been committed.
	errLost = errors.New("connection lost")
)

// code is the SQLSTATE that Postgres gave, or nothing.
func code(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	return ""
}

// overtaken tells whether the same transaction may well succeed when it is run again.
func overtaken(err error) bool {
	switch code(err) {
	case "40001", "40P01": // serialization failure, deadlock
		return true
	}
	return errors.Is(err, errAgain)
}

// elsewhere tells whether Postgres itself says that this connection leads to the wrong place: it is going down, or
// it is no primary any more.
func elsewhere(err error) bool {
	switch c := code(err); c {
	case "25006", "57P01", "57P02", "57P03": // read only, shut down, crashed, starting up
		return true
	default:
		return class(c) == "08" // connection exceptions, PgBouncer's too
	}
}

// poisonous tells whether the error can be about one row of many, rather than about the state that Postgres is in.
func poisonous(err error) bool {
	if errors.Is(err, errLost) || refusal(err) || overtaken(err) {
		return false
	}
	switch class(code(err)) {
	case "25", "53", "57", "58": // transaction state, resources, operator, system
		return false
	}
	return true
}

func class(code string) string { return code[:min(2, len(code))] }
