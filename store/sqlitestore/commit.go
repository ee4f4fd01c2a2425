package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// job is one caller's transaction, run by the committer in a savepoint of a shared one.
type job struct {
	run  func(w *writer) error
	err  error
	done chan struct{}
}

// writer is the one writing connection inside an open transaction. Its statements are prepared once.
type writer struct {
	ctx   context.Context
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	cache shareCache
	log   *slog.Logger

	emptied  bool // a text has been recalled
	swept    time.Time
	sweepDue *time.Timer
}

// do has run executed by the committer and returns when the commit it shares is durable. Once queued a job
// is never abandoned: nobody could say what became of it.
func (s *Store) do(ctx context.Context, run func(w *writer) error) error {
	if err := ctx.Err(); err != nil {
		return unavailable("queue for commit", err)
	}
	j := &job{run: run, done: make(chan struct{})}
	select {
	case s.jobs <- j:
	case <-s.closing:
		return unavailable("queue for commit", errors.New("store is closing"))
	case <-ctx.Done():
		return unavailable("queue for commit", ctx.Err())
	}
	select {
	case <-j.done:
		return j.err
	case <-s.done:
	}
	select { // the committer may have answered just before it ended
	case <-j.done:
		return j.err
	default:
		return unavailable("commit", errors.New("store is closed"))
	}
}

// commitLoop is the committer: it ends after Close, when the queue is empty.
func (s *Store) commitLoop() {
	defer close(s.done)
	w := &writer{ctx: context.Background(), stmts: map[string]*sql.Stmt{}, log: s.log}
	w.sweepDue = time.NewTimer(sweepEvery) // once in any case: who had the file before may have died with one due
	defer w.sweepDue.Stop()
	batch := make([]*job, 0, gather)
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
				w.reset()
				return
			}
		}
		batch = s.gatherMore(batch)
		if err := s.commit(w, batch); err != nil {
			s.log.Error("commit failed", "jobs", len(batch), "err", err)
			w.reset()
			for _, j := range batch {
				j.err = unavailable("commit", err)
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

func (s *Store) gatherMore(batch []*job) []*job {
	for len(batch) < gather {
		select {
		case j := <-s.jobs:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// commit runs the batch in one transaction. An error means that nothing of it is certain.
func (s *Store) commit(w *writer, batch []*job) error {
	if err := s.connect(w); err != nil {
		return err
	}
	if _, err := w.exec("begin immediate"); err != nil {
		return err
	}
	for _, j := range batch {
		if err := w.savepoint(j); err != nil {
			return err
		}
	}
	_, err := w.exec("commit")
	return err
}

func (s *Store) connect(w *writer) (err error) {
	if w.conn == nil {
		w.conn, err = s.write.Conn(w.ctx)
	}
	return err
}

// savepoint runs one job so that its failure is its own.
func (w *writer) savepoint(j *job) error {
	if _, err := w.exec("savepoint job"); err != nil {
		return err
	}
	if j.err = w.guarded(j.run); j.err != nil {
		if _, err := w.exec("rollback to job"); err != nil {
			return err
		}
	}
	_, err := w.exec("release job")
	return err
}

// guarded turns a panic of one job into its error, so that it cannot take the others with it.
func (w *writer) guarded(run func(w *writer) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("panic in transaction", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in transaction: %v", p)
		}
	}()
	return run(w)
}

// reset throws the connection away, and with it whatever state its transaction is in.
func (w *writer) reset() {
	for _, st := range w.stmts {
		_ = st.Close()
	}
	clear(w.stmts)
	w.cache.forget()
	if w.conn != nil {
		// ErrBadConn keeps it out of the pool, so that SQLite itself closes it and rolls back.
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

func (w *writer) exec(query string, args ...any) (sql.Result, error) {
	st, err := w.prepare(query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(w.ctx, args...)
}

func (w *writer) query(query string, args ...any) (*sql.Rows, error) {
	st, err := w.prepare(query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(w.ctx, args...)
}

// row scans the single row of a query into dest; found is false when there is none.
func (w *writer) row(query string, args []any, dest ...any) (found bool, err error) {
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
