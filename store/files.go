package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"hongbao/chat/files"
	"hongbao/store/objects"
)

// ErrNoFiles means that no object store is configured.
var ErrNoFiles = errors.New("there are no files: HONGBAO_FILES names no object store")

// filesFolder is the folder of the files in the data folder.
func (c Config) filesFolder() string { return filepath.Join(c.DataDir, "files") }

// openObjects opens the object store. It returns nil if there are no files.
func (c Config) openObjects() (files.Objects, error) {
	if c.Files.Address == "off" || c.Files.Address == "" && c.Scaled() {
		return nil, nil
	}
	c.Files.Folder = c.filesFolder()
	return objects.Open(c.Files)
}

// ExamineFiles compares the files with the object store, even while servers run: see files.Examine.
func ExamineFiles(ctx context.Context, c Config, how files.Examining, log *slog.Logger, report func(name, what string)) (files.Examined, error) {
	store, err := c.openObjects()
	if err == nil && store == nil {
		err = ErrNoFiles
	}
	if err != nil {
		return files.Examined{}, err
	}
	books, err := OpenBooks(ctx, c, log)
	if err != nil {
		return files.Examined{}, err
	}
	found, err := files.Examine(ctx, books.Files, store, how, report)
	return found, errors.Join(err, books.Close())
}

// BackupFiles copies the files of the data folder to another folder, which may have some of them already. It copies nothing, and returns the zero value,
// if the data folder has no files.
func BackupFiles(ctx context.Context, c Config, to string, told func(files.Examined)) (files.Examined, error) {
	store, err := objects.OpenFolder(to)
	if err != nil {
		return files.Examined{}, err
	}
	return c.copyFiles(ctx, store, told)
}

// CopyFiles copies the files of the data folder to the object store of HONGBAO_FILES, which may have some of them already. It returns ErrNoFiles if that
// names none.
func CopyFiles(ctx context.Context, c Config, told func(files.Examined)) (files.Examined, error) {
	store, err := c.openObjects()
	if err == nil && store == nil {
		err = ErrNoFiles
	}
	if err == nil {
		err = objects.Check(ctx, store)
	}
	if err != nil {
		return files.Examined{}, err
	}
	return c.copyFiles(ctx, store, told)
}

// HasFiles reports whether the data folder has files.
func (c Config) HasFiles() bool {
	entries, err := os.ReadDir(c.filesFolder())
	return err == nil && len(entries) > 0
}

func (c Config) copyFiles(ctx context.Context, to files.Objects, told func(files.Examined)) (files.Examined, error) {
	if !c.HasFiles() {
		return files.Examined{}, nil
	}
	from, err := objects.OpenFolder(c.filesFolder())
	if err != nil {
		return files.Examined{}, err
	}
	done, err := files.CopyObjects(ctx, from, to, told)
	if err != nil {
		return done, fmt.Errorf("copy files: %w; run the command again, it goes on", err)
	}
	return done, nil
}
