package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/store/eventlog"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/schema"
	"hongbao/store/tables"
)

// reader is a connection that reads. A single query of a reader sends its parameters separately, and the driver caches its description.
type reader = pg.Reader

// writer is one transaction. The transaction may be run again, so each run must set all results anew.
//
// Every statement, and every batch, is one simple Query with its arguments as literals (pg.Inline). After each one, Postgres
// ends the session if the client is silent for long (boundIdle). Between messages of the extended protocol that timer does
// not run, so a frozen client would keep its locks for ever.
type writer struct {
	reader
	// maybeCommitted says that an earlier run of this transaction may have been committed. This run can then look for the
	// rows that the earlier one would have written. Without it, each commit whose answer is lost would be unavailable to its callers, and
	// what it changed would not be published until the instances compare.
	maybeCommitted bool
	// lockWait bounds each wait of its statements for a lock, if tx started the transaction.
	lockWait time.Duration
	// idled counts the earlier runs of this transaction that Postgres has ended because the client was silent for too long.
	idled int

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
	text, err := pg.Inline(w.Conn, w.noted(query), args)
	if err != nil {
		return 0, err
	}
	tag, err := w.Conn.Exec(w.Ctx, text)
	return tag.RowsAffected(), err
}

// Each implements tables.Querier.
func (w *writer) Each(scan func(tables.Row) error, query string, args ...any) error {
	rs, err := w.Query(query, args...)
	if err != nil {
		return err
	}
	return pg.Each(rs, scan)
}

// Query runs a query.
func (w *writer) Query(query string, args ...any) (pgx.Rows, error) {
	text, err := pg.Inline(w.Conn, w.noted(query), args)
	if err != nil {
		return nil, err
	}
	return w.Conn.Query(w.Ctx, text)
}

// noted is what Text returns. It also notes, for commit, whether the statement changes a split table.
func (w *writer) noted(statement string) string {
	w.splitWrites = w.splitWrites || w.Citus && schema.ChangesSplit(statement)
	return w.Text(statement)
}

// Row implements tables.Querier.
func (w *writer) Row(query string, args []any, dest ...any) (found bool, err error) {
	text, err := pg.Inline(w.Conn, w.noted(query), args)
	if err != nil {
		return false, err
	}
	return pg.Scanned(w.Conn.QueryRow(w.Ctx, text).Scan(dest...))
}

// Send implements tables.Tx.
func (w *writer) Send(batch *tables.Batch) error {
	return w.SendBatch(pg.Queued(batch))
}

// SendBatch is Send for a batch of pgx.
func (w *writer) SendBatch(b *pgx.Batch) error {
	for _, q := range b.QueuedQueries {
		w.splitWrites = w.splitWrites || w.Citus && schema.ChangesSplit(q.SQL)
	}
	return w.reader.SendBatch(b)
}

// withReader runs fn with a connection. Each statement sees the data that was committed when the statement began. If
// the connection is lost, fn is run once more.
func (s *Store) withReader(ctx context.Context, fn func(r reader) error) error {
	return s.runRead(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return fn(reader{Ctx: ctx, Conn: conn, DataKeys: s.keys, Citus: s.citus})
	})
}

// withSnapshot runs fn with one snapshot of the database, and with a reader that has no data keys. If the connection is
// lost, fn is run once more.
func (s *Store) withSnapshot(ctx context.Context, fn func(r reader) error) error {
	return s.runRead(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return pg.Snapshot(ctx, conn, s.citus, fn)
	})
}

// withLongSnapshot runs fn once, with one snapshot of the database, without data keys and without a time limit. fn may
// be slow between two rows, so the timeouts that end the session of a slow client are switched off.
func (s *Store) withLongSnapshot(ctx context.Context, fn func(r pg.Reader) error) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	return pg.LongSnapshot(ctx, pooled.Conn(), s.citus, fn)
}

// runRead calls work with a connection, and once more with another one if the first is lost. If Postgres has ended the session, other
// connections of the pool may have ended, too: then it tries as many as the pool has.
func (s *Store) runRead(ctx context.Context, work func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, pg.Patience, pg.ErrPatience)
	defer cancel()
	err := s.readOnce(ctx, work)
	for n := int32(1); sessionEnded(err) && ctx.Err() == nil && n < s.pool.Stat().MaxConns(); n++ {
		err = s.readOnce(ctx, work)
	}
	if errors.Is(err, errLost) && ctx.Err() == nil {
		if err = s.readOnce(ctx, work); errors.Is(err, errLost) && ctx.Err() == nil {
			s.noteSecondLoss(err)
		}
	}
	return err
}

// noteSecondLoss opens the breaker after a call has lost its connection and then the new one, too. If Postgres has only ended the
// session, noteConnError has started a probe, which decides.
func (s *Store) noteSecondLoss(err error) {
	if !sessionEnded(err) {
		s.pool.Trip(err)
	}
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
	case sessionEnded(err):
		pg.CloseConn(conn)
		s.pool.Suspect(err)
	case !conn.IsClosed() || ctx.Err() != nil && !impatient || pg.SQLState(err) == idleTimeout:
		return err
	case impatient:
		s.pool.Suspect(err)
	default:
		s.pool.Drop()
	}
	return fmt.Errorf("%w: %w", errLost, err)
}
