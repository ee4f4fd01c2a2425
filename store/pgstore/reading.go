package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// withReader runs fn with a connection. Each statement sees the data that was committed when the statement began. If
// the connection is lost, fn is run once more.
func (s *Store) withReader(ctx context.Context, fn func(r reader) error) error {
	return s.runRead(ctx, func(ctx context.Context, conn *pgx.Conn) error { return fn(reader{ctx, conn}) })
}

// withSnapshot runs fn with one snapshot of the database. If the connection is lost, fn is run once more.
func (s *Store) withSnapshot(ctx context.Context, fn func(r reader) error) error {
	return s.runRead(ctx, func(ctx context.Context, conn *pgx.Conn) error { return snapshot(ctx, conn, fn) })
}

// withLongSnapshot runs fn once, with one snapshot of the database and without a time limit. fn may be slow between
// two rows, so the timeouts that end the session of a slow client are switched off.
func (s *Store) withLongSnapshot(ctx context.Context, fn func(r reader) error) error {
	pooled, err := s.pool.acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	return longSnapshot(ctx, pooled.Conn(), fn)
}

func longSnapshot(ctx context.Context, conn *pgx.Conn, fn func(r reader) error) error {
	return snapshot(ctx, conn, func(r reader) error {
		if err := simple(ctx, r.conn, waitForClient); err != nil {
			return err
		}
		return fn(r)
	})
}

// waitForClient switches the timeouts off. It takes their names from pg_settings, because other databases lack some
// of them.
const waitForClient = `select set_config(name, '0', true) from pg_settings
	where name in ('tcp_user_timeout', 'idle_in_transaction_session_timeout')`

// runRead calls work with a connection, and once more with another one if the first is lost.
func (s *Store) runRead(ctx context.Context, work func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	err := s.readOnce(ctx, work)
	if errors.Is(err, errLost) && ctx.Err() == nil {
		if err = s.readOnce(ctx, work); errors.Is(err, errLost) && ctx.Err() == nil {
			s.pool.breaker.trip(err) // the second connection was lost, too
		}
	}
	return err
}

func (s *Store) readOnce(ctx context.Context, work func(ctx context.Context, conn *pgx.Conn) error) error {
	pooled, err := s.pool.acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	defer s.pool.suspectIfSlow()()
	return s.noteConnError(ctx, pooled.Conn(), work(ctx, pooled.Conn()))
}

// noteConnError wraps the error in errLost if the connection is gone or useless, and tells the pool. If the caller's
// context ended, that costs the connection too, but says nothing about Postgres. If patience ended, it may have been
// one slow statement, so only a probe is started.
func (s *Store) noteConnError(ctx context.Context, conn *pgx.Conn, err error) error {
	impatient := errors.Is(context.Cause(ctx), errPatience)
	switch {
	case err == nil:
		return nil
	case wrongServer(err):
		closeConn(conn)
		s.pool.dropConns()
	case !conn.IsClosed() || ctx.Err() != nil && !impatient || sqlState(err) == idleTimeout:
		return err
	case impatient:
		s.pool.suspect(err)
	default:
		s.pool.dropConns()
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

// beginReading begins a transaction whose statements all see one snapshot.
const beginReading = "begin read only, isolation level repeatable read"

func snapshot(ctx context.Context, conn *pgx.Conn, fn func(r reader) error) error {
	if err := simple(ctx, conn, beginReading); err != nil {
		return err
	}
	err := fn(reader{ctx, conn})
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
