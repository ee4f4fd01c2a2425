package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// look runs fn, which may be run again, on a connection: each of its statements sees what was committed when it began.
func (s *Store) look(ctx context.Context, fn func(r reader) error) error {
	return s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error { return fn(reader{ctx, conn}) })
}

// view runs fn, which may be run again, on one snapshot of the database.
func (s *Store) view(ctx context.Context, fn func(r reader) error) error {
	return s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error { return snapshot(ctx, conn, fn) })
}

// survey is a view that may last as long as the caller likes, and so is run once only.
func (s *Store) survey(ctx context.Context, fn func(r reader) error) error {
	lent, err := s.pool.lend(ctx)
	if err != nil {
		return err
	}
	defer lent.Release()
	return snapshot(ctx, lent.Conn(), fn)
}

// reading does the work on a connection, and once more when that was lost.
func (s *Store) reading(ctx context.Context, work func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	err := s.readOnce(ctx, work)
	if errors.Is(err, errLost) && ctx.Err() == nil {
		if err = s.readOnce(ctx, work); errors.Is(err, errLost) {
			s.pool.breaker.trip(err) // on a new connection too
		}
	}
	return err
}

func (s *Store) readOnce(ctx context.Context, work func(ctx context.Context, conn *pgx.Conn) error) error {
	lent, err := s.pool.lend(ctx)
	if err != nil {
		return err
	}
	defer lent.Release()
	return s.judge(ctx, lent.Conn(), work(ctx, lent.Conn()))
}

// judge marks an error with errLost if the connection has gone or leads nowhere, and draws the consequences. That a
// caller could not wait, which costs the connection too, says nothing about Postgres.
func (s *Store) judge(ctx context.Context, conn *pgx.Conn, err error) error {
	impatient := errors.Is(context.Cause(ctx), errPatience)
	switch {
	case err == nil:
		return nil
	case elsewhere(err):
		hangUp(conn)
	case !conn.IsClosed() || ctx.Err() != nil && !impatient:
		return err
	}
	s.pool.doubt()
	if impatient {
		s.pool.breaker.trip(err) // it did not even answer
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

// One snapshot for all of its statements.
const beginReading = "begin read only, isolation level repeatable read"

func snapshot(ctx context.Context, conn *pgx.Conn, fn func(r reader) error) error {
	if err := simple(ctx, conn, beginReading); err != nil {
		return err
	}
	err := fn(reader{ctx, conn})
	_ = rollback(ctx, conn) // nothing was written: the end of a read cannot fail it
	return err
}

// simple runs SQL without arguments in one round trip, several statements too.
func simple(ctx context.Context, conn *pgx.Conn, sql string) error {
	return conn.PgConn().Exec(ctx, sql).Close()
}

// rollback ends a transaction that has nothing to keep. On a lost connection there is none any more.
func rollback(ctx context.Context, conn *pgx.Conn) error {
	if conn.IsClosed() {
		return nil
	}
	return simple(ctx, conn, "rollback")
}
