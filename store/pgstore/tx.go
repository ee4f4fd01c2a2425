package pgstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/store/eventlog"
	"hongbao/store/lineage"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// begin begins a transaction that takes locks. The others are settings of such a transaction.
const (
	begin = "begin isolation level read committed"
	// boundIdle makes Postgres end a session whose client sends nothing for 400 ms inside a transaction. The locks of a
	// client that froze or was cut off are then free, so calls that wait for its rows are answered within a second.
	boundIdle = "set local idle_in_transaction_session_timeout = 400"
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

// begin begins a transaction whose waits for locks are bounded by bound. To the workers, Citus sends not only a setting but the whole
// message that it is in. So there the setting is a message of its own.
func (w *writer) begin(bound string) error {
	if !w.Citus {
		return pg.Simple(w.Ctx, w.Conn, begin+"; "+boundIdle+"; "+bound)
	}
	if err := pg.Simple(w.Ctx, w.Conn, begin+"; "+boundIdle+"; "+toWorkers); err != nil {
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
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), pg.Patience, pg.ErrPatience)
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
			s.pool.Trip(err) // the second connection was lost, too
		}
		last = err
		s.log.Debug("transaction runs again", "err", err)
		if ended := s.pause(ctx, pause); ended != nil {
			return tables.Unavailable("commit", errors.Join(err, ended))
		}
	}
}

// groupTx runs the transaction of a group commit. If also the run number maxGroupRuns conflicts with other transactions, it
// returns errContended, and the caller may try a smaller group.
func (s *Store) groupTx(ctx context.Context, run func(w *writer) (committing bool, err error)) error {
	runs := 0
	return s.runUntilDone(ctx, nil, func(w *writer) (committing bool, err error) {
		committing, err = run(w)
		if runs++; retryable(err) && runs == maxGroupRuns {
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
		if w.maybeCommitted { // an earlier run may have been pg.Committed, and it is still unknown whether it was
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		return false, err
	}
	defer pooled.Release()
	defer s.pool.SuspectIfSlow()()
	conn := pooled.Conn()
	w.reader = reader{pg.Reader{Ctx: ctx, Conn: conn, DataKeys: s.keys, Citus: s.citus}}
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

// message is several statements that are sent to Postgres as one simple Query. Postgres runs them without waiting for
// the client in between. So if a whole transaction is one message, it holds no lock while the client is frozen or
// gone. The zero value is ready.
type message struct {
	text  []byte
	scans []func(pgx.Rows) error // one for each statement, to read its rows; nil: they are not read
	err   error                  // set if an argument cannot be sent
}

// add appends a statement without arguments.
func (m *message) add(sql string) {
	m.text = append(append(m.text, sql...), ";\n"...)
	m.scans = append(m.scans, nil)
}

// run appends a statement whose arguments replace $1 to $9. Each is a []string, []int64 or [][]byte. If the statement is
// prepared on this connection, name is its name, otherwise "". scan reads the rows.
func (m *message) run(scan func(pgx.Rows) error, name, sql string, args ...any) {
	if name == "" {
		m.expand(sql, args)
	} else {
		m.text = append(append(m.text, "execute "...), name...)
		for i, arg := range args {
			m.text = append(m.text, "(,"[min(i, 1)])
			m.list(arg)
		}
		m.text = append(m.text, ')')
	}
	m.text = append(m.text, ";\n"...)
	m.scans = append(m.scans, scan)
}

// expand appends the statement's text with the arguments in place of $1 to $9.
func (m *message) expand(sql string, args []any) {
	for {
		before, after, found := strings.Cut(sql, "$")
		m.text = append(m.text, before...)
		if !found {
			return
		}
		m.list(args[after[0]-'1'])
		sql = after[1:]
	}
}

// list appends a list as an array literal, which the statement casts to its type.
func (m *message) list(arg any) {
	m.text = append(m.text, "'{"...)
	switch list := arg.(type) {
	case []string:
		for _, s := range list {
			m.item(s)
		}
	case []int64:
		for _, n := range list {
			m.text = append(strconv.AppendInt(m.text, n, 10), ',')
		}
	case [][]byte:
		for _, b := range list {
			m.text = append(hex.AppendEncode(append(m.text, `"\\x`...), b), `",`...)
		}
	default:
		m.err = fmt.Errorf("unsupported argument of type %T in a message", arg)
	}
	if last := len(m.text) - 1; m.text[last] == ',' {
		m.text = m.text[:last]
	}
	m.text = append(m.text, "}'"...)
}

// item appends one string of an array. A single quote is doubled, for the literal. A double quote or a backslash gets a
// backslash before it, for the array.
func (m *message) item(s string) {
	m.text = append(m.text, '"')
	for from := 0; ; {
		i := strings.IndexAny(s[from:], "'\"\\\x00")
		if i < 0 {
			m.text = append(append(m.text, s[from:]...), `",`...)
			return
		}
		m.text = append(m.text, s[from:from+i]...)
		switch c := s[from+i]; c {
		case '\'':
			m.text = append(m.text, "''"...)
		case 0: // it would end the message
			m.err = errZeroByte
		default:
			m.text = append(m.text, '\\', c)
		}
		from += i + 1
	}
}

// send sends the message to Postgres and passes the rows to the scans. It sends nothing if an argument cannot be sent,
// or if settings of the session make it unsafe to send texts in a statement.
func (m *message) send(r reader) error {
	if m.err != nil {
		return m.err
	}
	for setting, want := range map[string]string{"standard_conforming_strings": "on", "client_encoding": "UTF8"} {
		if have := r.Conn.PgConn().ParameterStatus(setting); have != want {
			return fmt.Errorf("setting %s is %q at Postgres, need %s to send texts safely", setting, have, want)
		}
	}
	results := r.Conn.PgConn().Exec(r.Ctx, string(m.text))
	for i := 0; results.NextResult(); i++ {
		result := results.ResultReader()
		if m.scans[i] != nil {
			if err := m.scans[i](pgx.RowsFromResultReader(r.Conn.TypeMap(), result)); err != nil {
				return errors.Join(err, results.Close())
			}
		}
		_, _ = result.Close() // results reports its error
	}
	return results.Close()
}

// prepareAll makes Postgres parse the statements once for this connection and keep them, so that their plans can be used again.
// That saves much of the cost of a small transaction. prepareAll returns the names of the prepared statements. Behind PgBouncer
// the names are empty: each transaction may run in another process, which does not know the statements.
func (r reader) prepareAll(statements ...string) (names []string, err error) {
	names = make([]string, len(statements))
	if fixed, err := pg.SameProcess(r.Ctx, r.Conn); err != nil || !fixed {
		return names, err
	}
	for i, sql := range statements {
		prepared, err := r.Conn.Prepare(r.Ctx, sql, sql) // does nothing if the statement is prepared already
		if err != nil {
			return nil, err
		}
		names[i] = prepared.Name
	}
	return names, nil
}
