package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Vacuum writes the database in dir anew. After it, neither the file nor its write-ahead log has bytes of rows that were deleted, changed or moved. Stores may
// read meanwhile; their writes wait, and fail if that takes longer than they wait. The folder needs space for two more copies.
func Vacuum(ctx context.Context, dir string) (err error) {
	db, err := open(ctx, filepath.Join(dir, FileName), 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, `vacuum`); err != nil {
		return fmt.Errorf("write the database anew: %w", err)
	}
	busy := true
	if err := db.QueryRowContext(ctx, `pragma wal_checkpoint(truncate)`).Scan(&busy, new(int), new(int)); err != nil {
		return fmt.Errorf("empty the write-ahead log: %w", err)
	}
	if busy {
		return errors.New("the write-ahead log is not empty yet, because somebody reads: run it again")
	}
	return nil
}
