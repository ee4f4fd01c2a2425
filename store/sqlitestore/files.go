package sqlitestore

import (
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"

	"hongbao/chat"
)

// files notices that the file of the database or its write-ahead log was deleted or replaced while the store is open. SQLite would go
// on to write into the deleted file, and the next start would lack what was written.
type files struct {
	path     string      // static after open
	database fs.FileInfo // static after open
	log      fs.FileInfo // owned by the committer; nil until the first commit, which makes sure that the file exists

	lost atomic.Pointer[lostFileError] // once set, the store refuses all writes
}

// lostFileError is the error of a store whose files were deleted or replaced.
type lostFileError struct{ path string }

func (e *lostFileError) Error() string {
	return e.path + " was deleted or replaced while the server runs: stop the server, and restore the database if the file was not meant to go"
}

func (f *files) open(path string) (err error) {
	f.path = path
	f.database, err = os.Stat(path)
	return err
}

// check returns an error, now and at each later call, if the files are not those that the store has opened. The committer calls it
// after each commit and before the commit is acknowledged: it costs two calls of stat.
func (f *files) check() error {
	if err := f.err(); err != nil {
		return err
	}
	wal := f.path + "-wal"
	if f.log == nil {
		f.log, _ = os.Stat(wal)
	}
	for path, opened := range map[string]fs.FileInfo{f.path: f.database, wal: f.log} {
		now, err := os.Stat(path)
		if err != nil || opened == nil || !os.SameFile(now, opened) {
			f.lost.Store(&lostFileError{path})
			return f.err()
		}
	}
	return nil
}

// err returns an error that wraps chat.ErrUnavailable once check has found a lost file.
func (f *files) err() error {
	if lost := f.lost.Load(); lost != nil {
		return fmt.Errorf("%w: %w", chat.ErrUnavailable, lost)
	}
	return nil
}
