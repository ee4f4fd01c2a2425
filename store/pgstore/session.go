package pgstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// querier reads from Postgres. A writer also sees the changes of its own transaction; a reader sees only committed
// data.
//
// A batch, and every statement of a writer, is one simple Query message (see writer). A single query of a reader
// sends its parameters separately, and the driver caches its description.
type querier interface {
	tables.Querier
	// sendBatch sends all statements in one round trip. The queued callbacks read the results in order.
	sendBatch(b *pgx.Batch) error
}

// reader is a querier on one connection. Outside a transaction each statement sees the data committed so far; inside
// a snapshot all see the same data.
type reader struct {
	dialect
	ctx   context.Context
	conn  *pgx.Conn
	keys  *secret.Keys
	citus bool // the tables are split: see citus.go
}

// Keys implements tables.Querier.
func (r reader) Keys() *secret.Keys { return r.keys }

// Each implements tables.Querier.
func (r reader) Each(scan func(tables.Row) error, query string, args ...any) error {
	rs, err := r.query(query, args...)
	if err != nil {
		return err
	}
	return each(rs, scan)
}

func (r reader) query(query string, args ...any) (pgx.Rows, error) {
	return r.conn.Query(r.ctx, r.text(query), described(args)...)
}

// text returns the statement as it is sent to this database: on Citus it is changed by onCitus.
func (r reader) text(statement string) string {
	if r.citus {
		return onCitus(statement)
	}
	return statement
}

// Row implements tables.Querier.
func (r reader) Row(query string, args []any, dest ...any) (found bool, err error) {
	return scanned(r.conn.QueryRow(r.ctx, r.text(query), described(args)...).Scan(dest...))
}

// described makes the driver send the parameters separately from the query. It asks Postgres for their types only
// once.
func described(args []any) []any {
	return append([]any{pgx.QueryExecModeCacheDescribe}, args...)
}

// scanned interprets the error of a row's Scan: pgx.ErrNoRows becomes found = false without an error.
func scanned(err error) (found bool, _ error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (r reader) sendBatch(b *pgx.Batch) error {
	for _, q := range b.QueuedQueries {
		q.SQL = r.text(q.SQL)
	}
	return r.conn.SendBatch(r.ctx, b).Close()
}

// writer is one transaction. The transaction may be run again, so each run must set all results anew.
//
// Every statement is a simple Query with its arguments in the text. After each one, Postgres ends the session if the
// client is silent for 400 ms (boundIdle). Between messages of the extended protocol that timer does not run, so a
// frozen client would keep its locks for ever.
type writer struct {
	reader
	// maybeCommitted says that an earlier run of this transaction may have been committed. This run can then look for the
	// rows that the earlier one would have written.
	maybeCommitted bool
	// lockWait bounds each wait of its statements for a lock, if tx started the transaction.
	lockWait time.Duration

	splitWrites bool // it has changed rows of split tables on Citus: see commit

	chains *chains
	link   *link // what this run adds to a chain; nil before takeLink
	events eventlog.Kinds
	refs   eventlog.Refs // what this run adds to the event stream
}

// Again implements tables.Tx.
func (w *writer) Again() bool { return w.maybeCommitted }

// Events implements tables.Tx.
func (w *writer) Events() *eventlog.Refs { return &w.refs }

// Exec implements tables.Tx.
func (w *writer) Exec(query string, args ...any) (affected int64, err error) {
	if err := w.checkArgs(args); err != nil {
		return 0, err
	}
	tag, err := w.conn.Exec(w.ctx, w.noted(query), args...)
	return tag.RowsAffected(), err
}

// Each implements tables.Querier.
func (w *writer) Each(scan func(tables.Row) error, query string, args ...any) error {
	rs, err := w.query(query, args...)
	if err != nil {
		return err
	}
	return each(rs, scan)
}

func (w *writer) query(query string, args ...any) (pgx.Rows, error) {
	if err := w.checkArgs(args); err != nil {
		return nil, err
	}
	return w.conn.Query(w.ctx, w.noted(query), args...)
}

// noted is text. It also notes, for commit, whether the statement changes a split table.
func (w *writer) noted(statement string) string {
	w.splitWrites = w.splitWrites || w.citus && changesSplit(statement)
	return w.text(statement)
}

// Row implements tables.Querier.
func (w *writer) Row(query string, args []any, dest ...any) (found bool, err error) {
	if err := w.checkArgs(args); err != nil {
		return false, err
	}
	return scanned(w.conn.QueryRow(w.ctx, w.noted(query), args...).Scan(dest...))
}

// Send implements tables.Tx.
func (w *writer) Send(batch *tables.Batch) error {
	var b pgx.Batch
	for _, st := range batch.Statements {
		if queued := b.Queue(st.Text, st.Args...); st.Scan != nil {
			queued.Query(func(rs pgx.Rows) error { return each(rs, st.Scan) })
		}
	}
	return w.sendBatch(&b)
}

func (w *writer) sendBatch(b *pgx.Batch) error {
	for _, q := range b.QueuedQueries {
		if err := w.checkArgs(q.Arguments); err != nil {
			return err
		}
		w.splitWrites = w.splitWrites || w.citus && changesSplit(q.SQL)
	}
	return w.reader.sendBatch(b)
}

// errZeroByte is the error that Postgres returns for a text parameter with the character U+0000. In the text of a simple
// Query that character would end the message.
var errZeroByte = &pgconn.PgError{
	Severity: "ERROR", Code: "22021", Message: `invalid byte sequence for encoding "UTF8": 0x00`,
	Hint: "The statement was not sent: no text that Postgres stores can contain U+0000.",
}

// checkArgs returns errZeroByte if an argument contains the character U+0000, and another error if pgx cannot encode an
// argument.
func (w *writer) checkArgs(args []any) error {
	for _, arg := range args {
		zero := false
		switch arg := arg.(type) {
		case nil, int, int32, int64, bool, []byte, [][]byte, []int32, []int64:
		case string:
			zero = strings.IndexByte(arg, 0) >= 0
		case []string:
			zero = slices.ContainsFunc(arg, func(text string) bool { return strings.IndexByte(text, 0) >= 0 })
		default: // in the encoding that pgx uses
			text, err := w.conn.TypeMap().Encode(0, pgx.TextFormatCode, arg, nil)
			if err != nil {
				return fmt.Errorf("write a %T into a query: %w", arg, err)
			}
			zero = bytes.IndexByte(text, 0) >= 0
		}
		if zero {
			return errZeroByte
		}
	}
	return nil
}

// collect reads the remaining rows of a result, returns one T for each, and closes the result.
func collect[T any](rs pgx.Rows, scan func(tables.Row) (T, error)) (all []T, err error) {
	err = each(rs, func(row tables.Row) error {
		one, err := scan(row)
		all = append(all, one)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// each calls scan with each remaining row of a result until scan fails, and closes the result.
func each(rs pgx.Rows, scan func(tables.Row) error) error {
	defer rs.Close()
	for rs.Next() {
		if err := scan(rs); err != nil {
			return err
		}
	}
	return rs.Err()
}

func scanHead(rs tables.Row) (h redpacket.Head, err error) {
	var hash []byte
	if err := rs.Scan(&h.Chain, &h.Link, &hash); err != nil {
		return h, err
	}
	if copy(h.Hash[:], hash) != len(hash) {
		return h, fmt.Errorf("link %d has a hash of %d bytes", h.Link, len(hash))
	}
	return h, nil
}

// storedSeed scans a seed in clear, or null, which leaves the seed as it is.
type storedSeed struct{ into *redpacket.Seed }

// ScanBytes implements pgtype.BytesScanner.
func (s storedSeed) ScanBytes(text []byte) error {
	if text != nil && len(text) != len(s.into) {
		return fmt.Errorf("stored seed has %d bytes, want %d", len(text), len(s.into))
	}
	copy(s.into[:], text)
	return nil
}

// withReader runs fn with a connection. Each statement sees the data that was committed when the statement began. If
// the connection is lost, fn is run once more.
func (s *Store) withReader(ctx context.Context, fn func(r reader) error) error {
	return s.runRead(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return fn(reader{ctx: ctx, conn: conn, keys: s.keys, citus: s.citus})
	})
}

// withSnapshot runs fn with one snapshot of the database, and with a reader that has no data keys. If the connection is
// lost, fn is run once more.
func (s *Store) withSnapshot(ctx context.Context, fn func(r reader) error) error {
	return s.runRead(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return snapshot(ctx, conn, s.citus, fn)
	})
}

// withLongSnapshot runs fn once, with one snapshot of the database, without data keys and without a time limit. fn may
// be slow between two rows, so the timeouts that end the session of a slow client are switched off.
func (s *Store) withLongSnapshot(ctx context.Context, fn func(r reader) error) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	return longSnapshot(ctx, pooled.Conn(), s.citus, fn)
}

func longSnapshot(ctx context.Context, conn *pgx.Conn, citus bool, fn func(r reader) error) error {
	return snapshot(ctx, conn, citus, func(r reader) error {
		if err := simple(ctx, r.conn, waitForClient); err != nil {
			return err
		}
		return fn(r)
	})
}

// waitForClient switches off, until the transaction ends, the timeouts that end the session of a slow client. It takes
// their names from pg_settings, because databases that are only compatible with Postgres lack some of them.
const waitForClient = `select set_config(name, '0', true) from pg_settings
	where name in ('tcp_user_timeout', 'idle_in_transaction_session_timeout')`

// runRead calls work with a connection, and once more with another one if the first is lost.
func (s *Store) runRead(ctx context.Context, work func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, pg.Patience, pg.ErrPatience)
	defer cancel()
	err := s.readOnce(ctx, work)
	if errors.Is(err, errLost) && ctx.Err() == nil {
		if err = s.readOnce(ctx, work); errors.Is(err, errLost) && ctx.Err() == nil {
			s.pool.Trip(err) // the second connection was lost, too
		}
	}
	return err
}

func (s *Store) readOnce(ctx context.Context, work func(ctx context.Context, conn *pgx.Conn) error) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	defer s.pool.SuspectIfSlow()()
	return s.noteConnError(ctx, pooled.Conn(), work(ctx, pooled.Conn()))
}

// noteConnError wraps the error in errLost if the connection is gone or useless, and makes the pool close its connections.
// If patience ended, the cause may be one slow statement: then it only starts a probe. If the caller's context ended, the
// connection is gone, too, but that says nothing about Postgres: the error is returned as it is. So is an error with the
// SQLSTATE idleTimeout.
func (s *Store) noteConnError(ctx context.Context, conn *pgx.Conn, err error) error {
	impatient := errors.Is(context.Cause(ctx), pg.ErrPatience)
	switch {
	case err == nil:
		return nil
	case wrongServer(err):
		pg.CloseConn(conn)
		s.pool.Drop()
	case !conn.IsClosed() || ctx.Err() != nil && !impatient || pg.SQLState(err) == idleTimeout:
		return err
	case impatient:
		s.pool.Suspect(err)
	default:
		s.pool.Drop()
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

// beginReading begins a transaction whose statements all see one snapshot.
const beginReading = "begin read only, isolation level repeatable read"

func snapshot(ctx context.Context, conn *pgx.Conn, citus bool, fn func(r reader) error) error {
	if err := simple(ctx, conn, beginReading); err != nil {
		return err
	}
	err := fn(reader{ctx: ctx, conn: conn, citus: citus})
	_ = rollback(ctx, conn) // an error does not matter: nothing was written, and all is read
	return err
}

// simple runs SQL without arguments as one simple Query. The SQL may contain several statements.
func simple(ctx context.Context, conn *pgx.Conn, sql string) error {
	return conn.PgConn().Exec(ctx, sql).Close()
}

// rollback ends a transaction without a commit. On a lost connection there is no transaction to end.
func rollback(ctx context.Context, conn *pgx.Conn) error {
	if conn.IsClosed() {
		return nil
	}
	return simple(ctx, conn, "rollback")
}
