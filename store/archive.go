package store

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"hongbao/chat"
	"hongbao/chat/archive"
	"hongbao/chat/files"
	"hongbao/migrations"
	"hongbao/store/objects"
)

// Archive has the engines of an import or an export.
type Archive struct {
	Store archive.Store
	Files *files.Service // nil: there is no object store
	Books *Books

	close func() error
}

// Close closes the engines.
func (a *Archive) Close() error { return a.close() }

// OpenForImport opens the engines for an import. In embedded mode it creates the database if there is none, and fails with ErrFolderInUse if a server
// uses the data folder: that server would not know what is new. In scaled mode instances may run.
func OpenForImport(ctx context.Context, c Config, log *slog.Logger) (*Archive, error) {
	if c.Scaled() {
		return openArchive(ctx, c, migrations.Verify, log)
	}
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFolder(c.DataDir)
	if err != nil {
		return nil, err
	}
	a, err := openArchive(ctx, c, migrations.Auto, log)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	books := a.close
	a.close = func() error { return errors.Join(books(), lock.Close()) }
	return a, nil
}

// OpenForExport opens the engines for an export, even while a server runs.
func OpenForExport(ctx context.Context, c Config, log *slog.Logger) (*Archive, error) {
	if !c.Scaled() {
		if err := c.findFile(); err != nil {
			return nil, err
		}
	}
	return openArchive(ctx, c, migrations.Verify, log)
}

func openArchive(ctx context.Context, c Config, mode migrations.Mode, log *slog.Logger) (*Archive, error) {
	books, err := MakeBooks(ctx, c, mode, log)
	if err != nil {
		return nil, err
	}
	a := &Archive{Store: books.sql, Books: books, close: books.Close}
	contents, err := c.openObjects()
	if err == nil && contents != nil {
		err = objects.Check(ctx, contents)
	}
	if err != nil {
		return nil, errors.Join(err, books.Close())
	}
	if contents != nil {
		a.Files = files.New(books.Files, contents, everyRoom{}, files.Options{Limits: files.Limits{Bytes: files.MostBytes}, Log: log})
	}
	return a, nil
}

// everyRoom lets all users do all in all rooms: the operator decides what is imported.
type everyRoom struct{}

// CheckRead implements files.Rooms.
func (everyRoom) CheckRead(context.Context, string, string) error { return nil }

// StoredStanding implements files.Rooms.
func (everyRoom) StoredStanding(context.Context, string, string) (chat.Standing, error) {
	return chat.Standing{Ever: true, In: true, Role: chat.Plain}, nil
}
