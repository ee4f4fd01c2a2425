package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Backup copies the database, as it is now, to a new file that only its owner may read. It fails if the file exists. Stores
// may write meanwhile. Until Backup ends, SQLite's write-ahead log (-wal) only grows. The file gets its name only when the
// copy is complete.
func (a *Auditor) Backup(ctx context.Context, file string) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(file), ".hongbao-backup-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Close(), os.Remove(temp.Name())) }()
	if err := a.vacuumInto(ctx, temp.Name()); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), file); err != nil { // unlike a rename, it never replaces a file
		return err
	}
	return syncFolder(filepath.Dir(file))
}

// vacuumInto writes the database of one snapshot into an empty file.
func (a *Auditor) vacuumInto(ctx context.Context, file string) (err error) {
	conn, err := a.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, `pragma query_only(0)`); err != nil { // query_only would forbid writes to the copy, too
		return err
	}
	_, err = conn.ExecContext(ctx, `vacuum into ?`, file)
	_, reset := conn.ExecContext(context.WithoutCancel(ctx), `pragma query_only(1)`)
	return errors.Join(err, reset)
}

// syncFolder makes a new name in the folder durable. Windows cannot do that, and does not need it.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
