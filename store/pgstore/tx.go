package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"hongbao/store/eventlog"
	"hongbao/store/lineage"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// begin begins a transaction that takes locks. The others are settings of such a transaction.
const (
	begin = "begin isolation level read committed"
	// boundGroup bounds how long a group commit waits for a locked row. After that it leaves out the jobs that need the
	// row.
	boundGroup = "set local lock_timeout = 200"
	// onlyIndexes makes Postgres plan each lookup by an index. A prepared statement keeps its plan, and a plan from when the
	// tables were small would read them from end to end until the next analyze.
	onlyIndexes = "set local enable_seqscan = off"
	// boundKeys bounds the wait for a unique key that another transaction is inserting. Meanwhile the group commit holds
	// rows that many other calls need.
	boundKeys = "set local lock_timeout = 20"
	// toWorkers makes Citus send the settings that follow to the workers, too. The timeout of idle sessions stays on the coordinator: a
	// worker's session may be idle while another one works.
	toWorkers = "set local citus.propagate_set_commands = 'local'"
)

// boundIdle returns a setting that makes Postgres end a session whose client sends nothing for 400 ms inside a transaction. The locks of a
// client that froze or was cut off are then free, so calls that wait for its rows are answered within a second. A client that runs a
// transaction again is alive. If Postgres ended earlier runs because they were idle, the time is twice as long after one, and four times
// as long after more: a change of thousands of members may need it on a busy machine.
func boundIdle(ended int) string {
	return fmt.Sprintf("set local idle_in_transaction_session_timeout = %d", 400<<min(ended, 2))
}

// boundStatement returns a setting that bounds each statement of a transaction by patience, whatever statement_timeout the database or
// its roles have: a shorter one would fail healthy statements of a busy server. Postgres does not apply it to a commit.
func boundStatement() string {
	return fmt.Sprintf("set local statement_timeout = %d", pg.Patience.Milliseconds())
}

// begin begins a transaction whose waits for locks are bounded by bound. To the workers, Citus sends not only a setting but the whole
// message that it is in. So there the setting is a message of its own.
func (w *writer) begin(bound string) error {
	if !w.Citus {
		return pg.Simple(w.Ctx, w.Conn, begin+"; "+boundStatement()+"; "+boundIdle(w.idled)+"; "+bound)
	}
	if err := pg.Simple(w.Ctx, w.Conn, begin+"; "+boundStatement()+"; "+boundIdle(w.idled)+"; "+toWorkers); err != nil {
		return err
	}
	return pg.Simple(w.Ctx, w.Conn, bound)
}

const (
	// lockWait bounds each wait for a lock of a single transaction until its first lock timeout. It is short because the
	// run holds a pooled connection that callers of other rows need.
	lockWait = 100 * time.Millisecond
	// groupConns is the number of connections that single transactions never use. They are reserved for group commits,
	// their lanes, and reads. In a pool of at most groupConns connections, one single transaction may run.
	groupConns = 6
	// blockedLockWait bounds each wait for a lock of a single transaction after its first lock timeout. At most
	// maxBlocked runs that directly follow a lock timeout are active at once.
	blockedLockWait = 500 * time.Millisecond
	// maxBlocked is the most connections that runs directly after a lock timeout use at once: a quarter of the usual 16 connections.
	maxBlocked = 4
	// reserve is the time that a run has for its work besides waiting for a lock. If a lock timeout came only after
	// patience had ended, the connection would be lost.
	reserve = 100 * time.Millisecond
)

// tx runs fn in a transaction of its own and returns nil after the commit. If fn fails, it rolls back and returns that
// error. It calls fn again in a new transaction if a row stays locked, if another transaction interfered, or if the
// connection was lost. The connection may be lost during the commit, so an earlier run may have been committed. If
// patience ends first, tx returns an error that the database is unavailable, and the outcome may be unknown. Once begun,
// it goes on even if ctx ends.
func (s *Store) tx(ctx context.Context, fn func(w *writer) error) error {
	defer s.alone.Done(1, time.Now())
	return s.runUntilDone(ctx, s.singles, func(w *writer) (committing bool, err error) {
		if err = w.begin(fmt.Sprintf("set local lock_timeout = %d", w.lockWait.Milliseconds())); err == nil {
			err = fn(w)
		}
		if err == nil {
			committing, err = true, w.commit()
		}
		if pg.LockTimeout(err) {
			err = fmt.Errorf("%w: %w", errBlocked, err)
		}
		return committing, err
	})
}

// arrival is the key of the time at which a call arrived, in its context.
type arrival struct{}

// arrived returns a context that says that the call arrives now. Its patience then includes the waits that follow, for other calls too.
func arrived(ctx context.Context) context.Context {
	return context.WithValue(ctx, arrival{}, time.Now())
}

// patienceOf returns what is left of the patience of a call.
func patienceOf(ctx context.Context) time.Duration {
	if at, ok := ctx.Value(arrival{}).(time.Time); ok {
		return time.Until(at.Add(pg.Patience))
	}
	return pg.Patience
}

// runUntilDone calls run, which begins and commits a transaction itself. If run fails, committing reports whether the
// commit had been sent. run is called again, while patience lasts, if the connection was lost or another transaction
// interfered. runUntilDone goes on even if the caller's context ends, because the caller could not know whether the
// work is committed.
//
// A lock timeout is returned at once, unless run has wrapped it in errBlocked: then run is called again. Each call of
// run holds one of the slots; with nil slots, their number is not bounded.
func (s *Store) runUntilDone(ctx context.Context, slots chan struct{}, run func(w *writer) (committing bool, err error)) error {
	if err := ctx.Err(); err != nil {
		return tables.Unavailable("begin", err)
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), patienceOf(ctx), pg.ErrPatience)
	defer cancel()
	w := writer{lockWait: lockWait, chains: &s.chains, events: s.events, refs: eventlog.Collect(s.events)}
	var last error // the reason for the next run
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		done, err := s.admitBlockedRun(ctx, &w, last)
		if err != nil {
			return tables.Unavailable("commit", err)
		}
		if err := acquireSlot(ctx, slots); err != nil {
			done()
			return tables.Unavailable("begin", errors.Join(last, err))
		}
		committing, err := s.runOnce(ctx, w, run)
		releaseSlot(slots)
		done()
		lost := errors.Is(err, errLost)
		w.maybeCommitted = w.maybeCommitted || committing && lost
		switch {
		case !lost && !retryable(err): // includes nil
			return err
		case ctx.Err() != nil:
			return tables.Unavailable("commit", err)
		case lost && errors.Is(last, errLost):
			s.noteSecondLoss(err)
		case pg.SQLState(err) == idleTimeout:
			w.idled++
		}
		last = err
		s.log.Debug("transaction runs again", "err", err)
		if ended := s.pause(ctx, pause); ended != nil {
			return tables.Unavailable("commit", errors.Join(err, ended))
		}
	}
}

// groupTx runs the transaction of a group commit. If also the run number maxGroupRuns conflicts with other transactions, it
// returns errContended, and the caller may try a smaller group. If also that run waits although it skips locked rows, a table is locked, and
// a smaller group would wait, too.
func (s *Store) groupTx(ctx context.Context, run func(w *writer) (committing bool, err error)) error {
	runs := 0
	return s.runUntilDone(ctx, nil, func(w *writer) (committing bool, err error) {
		committing, err = run(w)
		switch runs++; {
		case !retryable(err) || runs < maxGroupRuns:
		case errors.Is(err, errSkippedWaits):
			err = tables.Unavailable("lock rows", errors.New(err.Error()))
		default:
			err = fmt.Errorf("%w: %w", errContended, errors.New(err.Error())) // wraps only the text of err, because retryable would see err itself
		}
		return committing, err
	})
}

// maxGroupRuns is how often a group commit is run in spite of conflicts.
const maxGroupRuns = 4

func acquireSlot(ctx context.Context, slots chan struct{}) error {
	if slots == nil {
		return nil
	}
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func releaseSlot(slots chan struct{}) {
	if slots != nil {
		<-slots
	}
}

// admitBlockedRun prepares the writer for a run after a lock timeout, and waits for a free slot. Before any other run it does
// nothing. The caller must call done after the run. If patience leaves too little time for another run, it returns an error
// that wraps the last one.
func (s *Store) admitBlockedRun(ctx context.Context, w *writer, last error) (done func(), err error) {
	if !errors.Is(last, errBlocked) {
		return func() {}, nil
	}
	select {
	case s.blocked <- struct{}{}:
	case <-ctx.Done():
		return nil, errors.Join(last, context.Cause(ctx))
	}
	deadline, _ := ctx.Deadline()
	w.lockWait = min(blockedLockWait, time.Until(deadline)-reserve)
	if w.lockWait < reserve {
		<-s.blocked
		return nil, errors.Join(last, pg.ErrPatience)
	}
	return func() { <-s.blocked }, nil
}

const (
	firstPause   = 5 * time.Millisecond
	longestPause = 200 * time.Millisecond
)

// pause waits for a random time of at most longest, and then until Postgres is in reach.
func (s *Store) pause(ctx context.Context, longest time.Duration) error {
	select {
	case <-time.After(rand.N(longest)):
		return s.pool.Await(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runOnce calls run with a pooled connection. If the connection is lost during the commit, the outcome is unknown.
func (s *Store) runOnce(ctx context.Context, w writer, run func(w *writer) (bool, error)) (committing bool, err error) {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		if w.maybeCommitted { // an earlier run may have been committed, and it is still unknown whether it was
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		return false, err
	}
	defer pooled.Release()
	defer s.pool.SuspectIfSlow()()
	conn := pooled.Conn()
	w.reader = reader{Ctx: ctx, Conn: conn, DataKeys: s.keys, Citus: s.citus}
	epoch := s.recent.Begin()
	committing, err = s.catchPanic(&w, run)
	if l := w.link; l != nil && l.added {
		s.recent.Add(epoch, lineage.Mark{Chain: l.chain.number, Link: l.id})
	}
	if err != nil && conn.PgConn().TxStatus() != 'I' {
		_ = pg.Rollback(ctx, conn) // if that fails too, Release closes the connection
	}
	missing := prevMissing(err)
	err = s.noteConnError(ctx, conn, err)
	w.releaseChain(err)
	if missing {
		err = w.explainMissing(err)
		s.noteLoss(w.link, err)
	}
	return committing, err
}

// catchPanic calls run and returns a panic as an error, so that the panic does not end the process.
func (s *Store) catchPanic(w *writer, run func(w *writer) (bool, error)) (committing bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic in transaction", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in transaction: %v", p)
		}
	}()
	return run(w)
}
