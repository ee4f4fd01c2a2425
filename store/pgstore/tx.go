package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A transaction whose client was cut off must not hold its locks for long. The setting ends with it.
const beginWriting = "begin isolation level read committed; set local idle_in_transaction_session_timeout = 10000"

// tx runs fn in a transaction of its own. It returns nil when that is committed, and fn's error when it is rolled
// back.
func (s *Store) tx(ctx context.Context, fn func(w *writer) error) error {
	return s.persist(ctx, func(w *writer) (committing bool, err error) {
		if err := simple(w.ctx, w.conn, beginWriting); err != nil {
			return false, err
		}
		if err := fn(w); err != nil {
			return false, err
		}
		return true, commit(w.ctx, w.conn)
	})
}

// persist runs what begins and commits a transaction by itself, and says with an error whether it was committing. Where
// the outcome is unknown, or others came in between, it is run again, for as long as patience lasts. Once begun it does
// not stop for a caller who has gone: nobody could say what became of it.
func (s *Store) persist(ctx context.Context, run func(w *writer) (committing bool, err error)) error {
	if err := ctx.Err(); err != nil {
		return unavailable("begin", err)
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), patience, errPatience)
	defer cancel()
	again, lost := false, false
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		committing, err := s.try(ctx, again, run)
		again = again || committing && errors.Is(err, errLost)
		switch {
		case errors.Is(err, errLost):
			if lost {
				s.pool.breaker.trip(err) // on a new connection too
			}
			lost = true
		case !overtaken(err): // nil, too
			return err
		}
		if ctx.Err() != nil {
			return unavailable("commit", err)
		}
		s.log.Debug("transaction is run again", "err", err)
		if ended := s.pause(ctx, pause); ended != nil {
			return unavailable("commit", errors.Join(err, ended))
		}
	}
}

const (
	firstPause   = 5 * time.Millisecond
	longestPause = 200 * time.Millisecond
)

// pause waits a random while, and then until Postgres can be reached.
func (s *Store) pause(ctx context.Context, longest time.Duration) error {
	select {
	case <-time.After(rand.N(longest)):
		return s.pool.breaker.await(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try runs it once. If the connection is lost while it is committing, nobody knows whether it is committed.
func (s *Store) try(ctx context.Context, again bool, run func(w *writer) (bool, error)) (committing bool, err error) {
	lent, err := s.pool.lend(ctx)
	if err != nil {
		if again { // it still wants to know what became of it
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		return false, err
	}
	defer lent.Release()
	conn := lent.Conn()
	committing, err = s.guarded(&writer{reader: reader{ctx, conn}, again: again}, run)
	if err != nil && conn.PgConn().TxStatus() != 'I' {
		_ = rollback(ctx, conn) // a connection that is still in a transaction is closed when it is released
	}
	return committing, s.judge(ctx, conn, err)
}

// commit fails where Postgres rolled back instead: fn has swallowed an error.
func commit(ctx context.Context, conn *pgx.Conn) error {
	tag, err := conn.Exec(ctx, "commit", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return err
	}
	return committed(tag)
}

func committed(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return nil
}

// guarded turns a panic into an error, so that it cannot take a committer with it.
func (s *Store) guarded(w *writer, run func(w *writer) (bool, error)) (committing bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic in transaction", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in transaction: %v", p)
		}
	}()
	return run(w)
}
