package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"hongbao/store/eventlog"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// job is a function that a caller has passed to do or doAll. The committer runs it in a savepoint of a shared transaction.
type job struct {
	run   func(w *writer) error
	err   error
	done  chan struct{}
	taken atomic.Bool // the committer runs the job, or the caller has given it up: the first of them sets it
}

// patience is how long a caller waits until its job is run. Then the caller gives it up, and the job is not done. Such waits occur while
// another process holds the write lock: see lockTimeout. Once the job runs, the caller waits for its end.
const patience = 4 * time.Second

var errNotBegun = fmt.Errorf("the job was not begun within %v: another process may hold the write lock of the database", patience)

// writer is the only connection through which the store writes. Jobs use it inside an open transaction. It prepares each
// statement once for each connection.
type writer struct {
	dialect
	ctx   context.Context
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	cache tables.ShareCache
	log   *slog.Logger
	keys  *secret.Keys

	chain    *ownChain     // nil until a row is chained
	refs     eventlog.Refs // what the open transaction adds to the event stream
	emptied  bool          // a text or a name was removed, so the write-ahead log needs a sweep
	swept    time.Time
	sweepDue *time.Timer
}

// do passes run to the committer, and waits until it is done. It returns nil only if the commit that contains run is durable.
// Once queued, run is executed even if ctx ends, because otherwise the caller could not know the outcome. It is not executed, and do
// returns chat.ErrUnavailable, if it was not begun within patience.
func (s *Store) do(ctx context.Context, run func(w *writer) error) error {
	return s.doAll(ctx, []func(w *writer) error{run})[0]
}

// doAll does the same as do for several functions, which may be committed separately. The errors are in the order of the functions.
func (s *Store) doAll(ctx context.Context, runs []func(w *writer) error) []error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errNotBegun)
	defer cancel()
	late := time.NewTimer(patience)
	defer late.Stop()
	jobs, errs := make([]*job, len(runs)), make([]error, len(runs))
	for i, run := range runs {
		j := &job{run: run, done: make(chan struct{})}
		if errs[i] = s.enqueue(ctx, j); errs[i] == nil {
			jobs[i] = j
		}
	}
	for i, j := range jobs {
		if j != nil {
			errs[i] = s.answer(j, late)
		}
	}
	return errs
}

func (s *Store) enqueue(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return tables.Unavailable("queue for commit", err)
	}
	select {
	case s.jobs <- j:
		return nil
	case <-s.closing:
		return tables.Unavailable("queue for commit", errors.New("store is closing"))
	case <-ctx.Done():
		return tables.Unavailable("queue for commit", context.Cause(ctx))
	}
}

// answer waits until the committer is done with a queued job. It returns nil if the commit of the job is durable, else why the job
// failed. If the committer has ended without doing the job, the error says that the store is closed. When late fires, answer gives the job
// up if it has not begun, and leaves late fired for the jobs that follow.
func (s *Store) answer(j *job, late *time.Timer) error {
	select {
	case <-j.done:
		return j.err
	case <-late.C:
		late.Reset(0)
		if j.taken.CompareAndSwap(false, true) {
			return tables.Unavailable("wait for the committer", errNotBegun)
		}
		select { // the job runs: its transaction holds the write lock
		case <-j.done:
			return j.err
		case <-s.done:
		}
	case <-s.done:
	}
	select { // the committer may have answered the job just before it ended
	case <-j.done:
		return j.err
	default:
		return tables.Unavailable("commit", errors.New("store is closed"))
	}
}

// commitLoop is the committer's goroutine. It ends after Close, when the queue is empty.
func (s *Store) commitLoop() {
	defer close(s.done)
	w := &writer{ctx: context.Background(), stmts: map[string]*sql.Stmt{}, log: s.log}
	w.sweepDue = time.NewTimer(sweepEvery) // the first sweep is due a minute after the start: the previous process may have died before its sweep
	defer w.sweepDue.Stop()
	batch := make([]*job, 0, maxBatch)
	for {
		select {
		case j := <-s.jobs:
			batch = append(batch[:0], j)
		case <-w.sweepDue.C:
			s.sweep(w)
			continue
		case <-s.closing:
			select {
			case j := <-s.jobs:
				batch = append(batch[:0], j)
			default:
				w.giveBack()
				w.reset()
				return
			}
		}
		batch = s.fillBatch(batch)
		if err := s.commit(w, batch); err != nil {
			s.log.Error("commit failed", "jobs", len(batch), "err", err)
			s.noteLoss(err)
			w.reset()
			for _, j := range batch {
				j.err = tables.Unavailable("commit", fmt.Errorf("%w: %w", errWholeCommit, err))
			}
		}
		for _, j := range batch {
			close(j.done)
		}
		if w.emptied {
			w.emptied = false
			w.sweepLater()
		}
	}
}

func (s *Store) fillBatch(batch []*job) []*job {
	for len(batch) < maxBatch {
		select {
		case j := <-s.jobs:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// errWholeCommit means that a transaction of several jobs has failed. The rows of no single job are the cause.
var errWholeCommit = errors.New("the whole transaction has failed")

// commit runs the batch in one transaction. After an error the outcome of every job is unknown.
func (s *Store) commit(w *writer, batch []*job) error {
	defer s.commits.Done(len(batch), time.Now())
	if err := s.files.err(); err != nil {
		return err
	}
	if err := s.connect(w); err != nil {
		return err
	}
	if _, err := w.Exec("begin immediate"); err != nil {
		return err
	}
	w.refs = eventlog.Collect(s.events)
	for _, j := range batch {
		if !j.taken.CompareAndSwap(false, true) {
			continue // its caller has given it up
		}
		if err := w.savepoint(j); err != nil {
			return err
		}
	}
	if err := w.addLink(); err != nil {
		return fmt.Errorf("add the link: %w", err)
	}
	if !w.refs.Empty() {
		if err := w.addEvents(); err != nil {
			return fmt.Errorf("add to the event stream: %w", err)
		}
	}
	if _, err := w.Exec("commit"); err != nil {
		return err
	}
	w.nextLink()
	return s.files.check()
}

func (s *Store) connect(w *writer) (err error) {
	w.keys = s.keys
	if w.conn == nil {
		w.conn, err = s.write.Conn(w.ctx)
	}
	return err
}

// savepoint runs one job in a savepoint, so that its failure rolls back only this job.
func (w *writer) savepoint(j *job) error {
	if _, err := w.Exec("savepoint job"); err != nil {
		return err
	}
	mark, refs := w.mark(), w.refs.Mark()
	if j.err = w.guarded(j.run); j.err != nil {
		w.dropAfter(mark)
		w.refs.Truncate(refs)
		if _, err := w.Exec("rollback to job"); err != nil {
			return err
		}
	}
	_, err := w.Exec("release job")
	return err
}

// guarded calls run and returns a panic as an error, so that the other jobs of the batch go on.
func (w *writer) guarded(run func(w *writer) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("panic in transaction", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in transaction: %v", p)
		}
	}()
	return run(w)
}

// reset closes the writing connection, which rolls back its transaction.
func (w *writer) reset() {
	for _, st := range w.stmts {
		_ = st.Close()
	}
	clear(w.stmts)
	w.cache.Clear() // it may have a packet that was never committed
	w.chain = nil   // the last transaction may have been committed or not
	if w.conn != nil {
		// After ErrBadConn, database/sql closes the connection instead of keeping it in its pool. SQLite then rolls back.
		_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
		w.conn = nil
	}
}

func (w *writer) prepare(query string) (*sql.Stmt, error) {
	if st, ok := w.stmts[query]; ok {
		return st, nil
	}
	st, err := w.conn.PrepareContext(w.ctx, query)
	if err != nil {
		return nil, err
	}
	w.stmts[query] = st
	return st, nil
}

// Keys implements tables.Querier.
func (w *writer) Keys() *secret.Keys { return w.keys }

// Again implements tables.Tx. An unknown outcome of a commit is reported, and nothing runs again.
func (w *writer) Again() bool { return false }

// Events implements tables.Tx.
func (w *writer) Events() *eventlog.Refs { return &w.refs }

// Exec implements tables.Tx.
func (w *writer) Exec(query string, args ...any) (affected int64, err error) {
	st, err := w.prepare(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(w.ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Send implements tables.Tx.
func (w *writer) Send(b *tables.Batch) error {
	for _, st := range b.Statements {
		var err error
		if st.Scan != nil {
			err = w.Each(st.Scan, st.Text, st.Args...)
		} else {
			_, err = w.Exec(st.Text, st.Args...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Each implements tables.Querier.
func (w *writer) Each(scan func(tables.Row) error, query string, args ...any) error {
	rs, err := w.query(query, args...)
	if err != nil {
		return err
	}
	return each(rs, scan)
}

func (w *writer) query(query string, args ...any) (*sql.Rows, error) {
	st, err := w.prepare(query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(w.ctx, args...)
}

// Row implements tables.Querier.
func (w *writer) Row(query string, args []any, dest ...any) (found bool, err error) {
	st, err := w.prepare(query)
	if err != nil {
		return false, err
	}
	err = st.QueryRowContext(w.ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// sweepEvery is the shortest pause between two sweeps of the write-ahead log. A sweep is not needed for the log's
// size, because SQLite reuses the log. But until a sweep the log may contain a recalled text.
const sweepEvery = time.Minute

// sweepTimeout is the pragma that makes a sweep wait at most 100 ms for readers of an older snapshot. Queued jobs wait
// meanwhile.
const sweepTimeout = "pragma busy_timeout(100)"

// sweepLater schedules a sweep for when sweepEvery has passed since the last one: at once if it already has.
func (w *writer) sweepLater() { w.sweepDue.Reset(time.Until(w.swept.Add(sweepEvery))) }

// sweep moves the whole write-ahead log into the database file and empties the log. In the file, secure_delete leaves
// nothing of a recalled text, except in the case below. If the sweep fails, or a reader of an older snapshot prevents it, it
// is retried later.
//
// In this case bytes of a recalled text remain. SQLite may move a row to another page, for example when entries of many rooms
// arrive at once, or when texts of one room are edited. The row's bytes then stay in the free part of the first page until that
// part is overwritten, or until a vacuum.
func (s *Store) sweep(w *writer) {
	w.swept = time.Now()
	if err := s.connect(w); err != nil {
		w.sweepLater()
		return
	}
	busy := true
	_, err := w.conn.ExecContext(w.ctx, sweepTimeout)
	if err == nil {
		err = w.conn.QueryRowContext(w.ctx, "pragma wal_checkpoint(truncate)").Scan(&busy, new(int), new(int))
	}
	if _, again := w.conn.ExecContext(w.ctx, "pragma "+lockTimeout); again != nil {
		w.reset() // closes the connection: its short timeout must not apply to other jobs
	}
	if err != nil || busy {
		s.log.Info("write-ahead log not emptied yet", "err", err)
		w.sweepLater()
	}
}
