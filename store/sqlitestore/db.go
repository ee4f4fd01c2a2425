package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite" // the driver, in pure Go: building the program needs no C compiler
	sqlite3 "modernc.org/sqlite/lib"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/redpacket/meter"
	"hongbao/store/eventlog"
	"hongbao/store/lineage"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// Store keeps its data in one SQLite file. It implements chat.Store, redpacket.Ledger and the other interfaces of an engine
// in SQL.
type Store struct {
	tables.Tables

	read  *pool
	write *sql.DB // one connection; after Open only the committer uses it
	jobs  chan *job
	log   *slog.Logger
	keys  *secret.Keys

	events eventlog.Kinds

	commits *meter.Batches

	recent lineage.Recent // stays empty
	onLoss atomic.Pointer[func(reason string)]

	files files

	closing chan struct{}
	done    chan struct{}
	once    sync.Once
}

// maxBatch is the most jobs in one commit.
const maxBatch = 500

// FileName is the database's name in its folder.
const FileName = "hongbao.db"

// Open opens or creates the database in dir, migrates its schema and starts the committer.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Store, error) {
	return OpenWith(ctx, dir, migrations.Auto, log)
}

// OpenWith is Open with another mode for the schema.
func OpenWith(ctx context.Context, dir string, mode migrations.Mode, log *slog.Logger) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	path := filepath.Join(dir, FileName)
	if err := makePrivate(dir, path); err != nil {
		return nil, err
	}
	write, err := open(ctx, path, 1)
	if err != nil {
		return nil, err
	}
	if err := prepareSchema(ctx, write, mode); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read, err := open(ctx, path, 4)
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	s := &Store{
		read: newPool(read), write: write, log: log,
		jobs: make(chan *job, maxBatch), closing: make(chan struct{}), done: make(chan struct{}), commits: meter.NewBatches(),
	}
	s.Tables = tables.New(database{s: s})
	if err := s.files.open(path); err != nil {
		return nil, errors.Join(err, read.Close(), write.Close())
	}
	go s.commitLoop()
	return s, nil
}

// makePrivate creates the database's file if there is none, and lets only its owner read it and the files that SQLite keeps beside
// it. Except on Windows, it refuses a folder into which every user of the machine may write.
func makePrivate(dir, path string) error {
	folder, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if folder.Mode().Perm()&0o002 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("every user of this machine may write into the data folder %s: run chmod o-w on it, or use another one", dir)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // SQLite gives the files beside it the same mode
	if err == nil {
		return file.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} { // perhaps restored with another mode
		info, err := os.Stat(name)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(name, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("let only the owner read the database: %w", err)
		}
	}
	return nil
}

// lockTimeout is the pragma that makes a connection wait up to 10 s for a lock that another connection holds.
const lockTimeout = "busy_timeout(10000)"

// open opens a pool of n connections. n = 1 is for the writer, whose transactions begin with the write lock. With
// synchronous=FULL a commit survives a power cut once the caller has its answer. With secure_delete SQLite overwrites
// deleted text in the database file; sweep names the one exception.
func open(ctx context.Context, path string, n int) (*sql.DB, error) {
	if err := registerClock(); err != nil {
		return nil, err
	}
	q := url.Values{"_pragma": {
		lockTimeout, "journal_mode(WAL)", "synchronous(FULL)", "temp_store(MEMORY)", "secure_delete(ON)",
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

// firstConnection opens a connection, and retries while the database is busy. busy_timeout does not cover this:
// switching a new file to WAL fails at once while another process does the same.
func firstConnection(ctx context.Context, db *sql.DB) error {
	for deadline := time.After(10 * time.Second); ; {
		err := db.PingContext(ctx)
		var failed *sqlite.Error
		if !errors.As(err, &failed) || failed.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			return err
		}
	}
}

// UseKeys makes the store encrypt passphrases and seeds. It must be called before any method that reads or writes them.
func (s *Store) UseKeys(keys *secret.Keys) { s.keys = keys }

// Close answers queued jobs, then closes the file.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.closing) })
	<-s.done
	return errors.Join(s.read.Close(), s.write.Close())
}

// Clocks implements redpacket.Ledger. It returns no clock, because SQLite uses the clock of this process.
func (s *Store) Clocks(context.Context, func() time.Time) ([]redpacket.ClockDifference, error) {
	return nil, nil
}

// Meters returns what the store measures.
func (s *Store) Meters() meter.Engines {
	return meter.Engines{
		Work:        []meter.Work{s.commits.Work("sqlite", "commits", len(s.jobs))},
		Connections: []meter.Connections{connections("read", s.read.Stats()), connections("write", s.write.Stats())},
	}
}

func connections(use string, s sql.DBStats) meter.Connections {
	return meter.Connections{
		Engine: "sqlite", Use: use, Open: s.OpenConnections, Idle: s.Idle, Most: s.MaxOpenConnections, Waits: s.WaitCount, Waited: s.WaitDuration,
	}
}
