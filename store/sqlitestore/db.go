package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite" // the driver; pure Go, so that one binary runs everywhere
	sqlite3 "modernc.org/sqlite/lib"
)

// Store is one database file.
type Store struct {
	read  *pool
	write *sql.DB // one connection, used by the committer alone
	jobs  chan *job
	log   *slog.Logger

	closing chan struct{}
	done    chan struct{}
	once    sync.Once
}

// gather is how many jobs at most share one commit.
const gather = 500

// FileName is the database's name in its folder.
const FileName = "hongbao.db"

// Open opens (or makes) the database in dir, brings its schema up to date and starts the committer.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	path := filepath.Join(dir, FileName)
	write, err := open(ctx, path, 1)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, write); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read, err := open(ctx, path, 4)
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	s := &Store{
		read: newPool(read), write: write, log: log,
		jobs: make(chan *job, gather), closing: make(chan struct{}), done: make(chan struct{}),
	}
	go s.commitLoop()
	return s, nil
}

// patience is how long a connection waits for another one's lock.
const patience = "busy_timeout(10000)"

// open makes a pool of n connections. synchronous=FULL: an acknowledged commit survives a power cut. secure_delete: of
// a text that was recalled nothing stays in the file.
func open(ctx context.Context, path string, n int) (*sql.DB, error) {
	q := url.Values{"_pragma": {
		patience, "journal_mode(WAL)", "synchronous(FULL)", "temp_store(MEMORY)", "secure_delete(ON)",
	}}
	if n == 1 {
		q.Set("_txlock", "immediate")
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	if err := firstConnection(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return db, nil
}

// firstConnection waits as busy_timeout would: turning a new file's journal to WAL, while another process does
// the same, fails at once whatever that says.
func firstConnection(ctx context.Context, db *sql.DB) error {
	for patience := time.After(10 * time.Second); ; {
		err := db.PingContext(ctx)
		var failed *sqlite.Error
		if !errors.As(err, &failed) || failed.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-patience:
			return err
		}
	}
}

// Close answers what is queued, then closes the file.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.closing) })
	<-s.done
	return errors.Join(s.read.Close(), s.write.Close())
}
