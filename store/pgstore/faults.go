package pgstore

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/chat"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

var (
	// errBlocked means that a row stayed locked by another transaction for the whole lock timeout. The transaction was
	// rolled back and is run again later, until its caller has waited for the whole patience.
	errBlocked = errors.New("a row stays locked by another transaction")
	// errSkippedWaits means that a statement which skips locked rows had to wait: a table is locked, or a row's earlier version was
	// unlocked just as another transaction locked the next one, for which Postgres waits. The transaction was rolled back and is run
	// again at once.
	errSkippedWaits = errors.New("a statement that skips locked rows had to wait")
	// errKeyTaken means that another transaction is inserting the same unique key and does not end. Locking rows in
	// advance cannot show that.
	errKeyTaken = errors.New("key is being inserted by another transaction")
	// errContended means that a group commit still met a conflict or a deadlock in its run number maxGroupRuns.
	errContended = errors.New("repeated conflicts with other transactions")
	// errLost means that the connection is gone or useless. The work in progress may have been committed.
	errLost = errors.New("connection lost")
)

// retryable reports whether the same transaction, which was rolled back, may succeed if it is run again. A lost
// connection (errLost) does not count.
func retryable(err error) bool {
	switch pg.SQLState(err) {
	case "40001", "40P01", idleTimeout: // serialization failure, deadlock, ended session
		return true
	}
	return errors.Is(err, tables.ErrRetry) || errors.Is(err, errBlocked) || errors.Is(err, errSkippedWaits)
}

// idleTimeout is the SQLSTATE of a session that Postgres has ended by idle_in_transaction_session_timeout. Its
// transaction is rolled back.
const idleTimeout = "25P03"

// wrongServer reports whether Postgres or PgBouncer says that this connection is of no use: for example because the
// server has crashed, is starting up, or is not the primary any more. It is false of an ended session: see sessionEnded.
func wrongServer(err error) bool {
	switch c := pg.SQLState(err); c {
	case "25006", "57P02", "57P03": // read-only, crashed, starting up
		return true
	default:
		return pg.SQLClass(c) == "08" && !workerDown(err) // connection exceptions, also those of PgBouncer
	}
}

// sessionEnded reports whether Postgres has ended this session: an operator has, or the server is shutting down. Other sessions may go on.
// If the server is shutting down, no new connection can be made, and that opens the breaker.
func sessionEnded(err error) bool { return pg.SQLState(err) == "57P01" }

// workerDown reports whether a coordinator of Citus cannot reach a worker. Statements about rows of other workers can succeed.
func workerDown(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && pg.SQLClass(failed.Code) == "08" && strings.Contains(failed.Message, "remote node")
}

// contended reports whether other transactions kept this one from its rows. A smaller batch may succeed.
func contended(err error) bool { return pg.LockTimeout(err) || errors.Is(err, errContended) }

// poisonous reports whether one row of the batch may have caused the error, and not the state of Postgres.
func poisonous(err error) bool {
	if errors.Is(err, errLost) || errors.Is(err, errTailLost) || chat.IsRequestError(err) || retryable(err) || contended(err) {
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) || chainFailed(err) {
		return false
	}
	switch c := pg.SQLState(err); pg.SQLClass(c) {
	case "25": // transaction state
		return false
	case "53", "57": // resources, operator: one row can cause only lack of memory (53200) and a cancelled statement (57014)
		return c == "53200" || c == "57014"
	}
	return true
}

// judge says what an error means for a batch.
func judge(err error) batch.Fault {
	switch {
	case contended(err) && errors.Is(err, errKeyTaken):
		return batch.KeyTaken
	case contended(err):
		return batch.RowsLocked
	case !poisonous(err):
		return batch.Outage
	case invalidRow(err), workerDown(err):
		return batch.LastingRow
	case exhausted(err):
		return batch.Exhausted
	}
	return batch.PassingRow
}

// exhausted reports whether Postgres ran out of time (57014, a cancelled statement), of memory (53200) or failed to use its disk (58).
func exhausted(err error) bool {
	c := pg.SQLState(err)
	return c == "57014" || c == "53200" || pg.SQLClass(c) == "58"
}

// invalidRow reports whether Postgres will always refuse the row because of its content: data, integrity, program
// limits.
func invalidRow(err error) bool {
	if chainFailed(err) {
		return false
	}
	switch pg.SQLClass(pg.SQLState(err)) {
	case "22", "23", "54":
		return true
	}
	return false
}
