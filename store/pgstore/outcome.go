package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/chat"
	"hongbao/redpacket"
)

// outcome maps an error to one that callers of the store may see. A domain error passes unchanged; every other error
// becomes chat.ErrUnavailable. Only errors that isRefusal lists pass, so no error of the driver looks like a refusal.
func outcome(doing string, err error) error {
	if err == nil || isRefusal(err) {
		return err
	}
	return unavailable(doing, err)
}

// isRefusal reports whether the error is an answer of the domain, not a failure. FieldError and CommitmentError
// count, because they unwrap to a listed error.
func isRefusal(err error) bool {
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

// unavailable wraps an error of the driver in chat.ErrUnavailable, which callers test for. Logs show the whole chain.
func unavailable(doing string, err error) error {
	return fmt.Errorf("%s: %w: %w", doing, chat.ErrUnavailable, err)
}

var (
	// errRetry means that a concurrent transaction changed what this one has read. This one is rolled back and run
	// again, and then sees the result of the other.
	errRetry = errors.New("conflict with another transaction")
	// errBlocked means that a row stayed locked by another transaction for the whole lock timeout. The transaction was
	// rolled back and is run again later.
	errBlocked = errors.New("a row stays locked by another transaction")
	// errPatience is the cancellation cause of a context that ended because patience was over.
	errPatience = errors.New("no answer in time")
	// errKeyTaken means that another transaction is inserting the same unique key and does not end. Locking rows in
	// advance cannot show that.
	errKeyTaken = errors.New("key is being inserted by another transaction")
	// errContended means that a group commit met conflicting transactions or deadlocks in each of its runs.
	errContended = errors.New("repeated conflicts with other transactions")
	// errLost means that the connection is gone. The work in progress may have been committed.
	errLost = errors.New("connection lost")
)

// sqlState returns the SQLSTATE of an error of Postgres, or "".
func sqlState(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	return ""
}

// retryable reports whether the same transaction may succeed if it is run again.
func retryable(err error) bool {
	switch sqlState(err) {
	case "40001", "40P01", idleTimeout: // serialization failure, deadlock
		return true
	}
	return errors.Is(err, errRetry) || errors.Is(err, errBlocked)
}

// idleTimeout is the SQLSTATE of a session that Postgres has ended by idle_in_transaction_session_timeout. Its
// transaction is rolled back.
const idleTimeout = "25P03"

// lockTimeout reports whether Postgres itself ended a statement because of lock_timeout. A database function that raises
// the same SQLSTATE does not count: waiting would not help.
func lockTimeout(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.Code == "55P03" && failed.Routine != "exec_stmt_raise"
}

// wrongServer reports whether Postgres or PgBouncer says that this connection is of no use: the server is shutting
// down, starting up, or is not the primary any more.
func wrongServer(err error) bool {
	switch c := sqlState(err); c {
	case "25006", "57P01", "57P02", "57P03": // read-only, shut down, crashed, starting up
		return true
	default:
		return sqlClass(c) == "08" // connection exceptions, also those of PgBouncer
	}
}

// contended reports whether other transactions kept this one from its rows. A smaller batch may succeed.
func contended(err error) bool { return lockTimeout(err) || errors.Is(err, errContended) }

// poisonous reports whether one row of the batch may have caused the error, and not the state of Postgres.
func poisonous(err error) bool {
	if errors.Is(err, errLost) || errors.Is(err, errTailLost) || isRefusal(err) || retryable(err) || contended(err) {
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	switch c := sqlState(err); sqlClass(c) {
	case "25": // transaction state
		return false
	case "53", "57": // resources, operator: one row can cause only lack of memory (53200) and a cancelled statement (57014)
		return c == "53200" || c == "57014"
	}
	return true
}

// invalidRow reports whether Postgres will always refuse the row because of its content: data, integrity, program
// limits.
func invalidRow(err error) bool {
	switch sqlClass(sqlState(err)) {
	case "22", "23", "54":
		return true
	}
	return false
}

func sqlClass(code string) string { return code[:min(2, len(code))] }
