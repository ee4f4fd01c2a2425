package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/pgstore"
	"hongbao/store/secret"
	"hongbao/store/sqlitestore"
)

// KeyNeeded says which key file a copy of the embedded database needs.
type KeyNeeded struct {
	File string // where the file is expected
	Err  error  // why the file is not enough; nil: it has all keys
}

// Backup copies the embedded database, as it is now, to a new file. A server may write to the database meanwhile. Backup
// returns the key file that the copy needs, so that the operator keeps that file, too. nil: the copy needs none.
func Backup(ctx context.Context, c Config, file string) (*KeyNeeded, error) {
	if c.Scaled() {
		return nil, errors.New("HONGBAO_DATABASE_URL is set: Postgres is backed up with its own tools, see web/docs/runbooks.md")
	}
	from, err := c.openFile(ctx)
	if err != nil {
		return nil, err
	}
	key, err := c.keyNeeded(ctx, from)
	if err == nil {
		err = from.Backup(ctx, file)
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s exists and is not replaced: name a new file, or a folder", file)
	}
	return key, errors.Join(err, from.Close())
}

// Vacuum writes the embedded database anew, so that its file has nothing left of what was erased. A server may run meanwhile.
func Vacuum(ctx context.Context, c Config) error {
	if c.Scaled() {
		return errors.New("HONGBAO_DATABASE_URL is set: Postgres has its own vacuum, see web/docs/privacy.md")
	}
	from, err := c.openFile(ctx) // refuses a folder without a database of this version
	if err != nil {
		return err
	}
	return errors.Join(sqlitestore.Vacuum(ctx, c.DataDir), from.Close())
}

// Copy copies the embedded database in c.DataDir into the empty Postgres database of c.DatabaseURL. It fails with ErrFolderInUse if a
// server uses the data folder. It copies no rows unless the audits of both databases agree. It returns what both audits find, and
// the key file that the instances need. nil: they need none.
func Copy(ctx context.Context, c Config, log *slog.Logger) (found redpacket.Audit, key *KeyNeeded, err error) {
	from, err := c.openFile(ctx)
	if err != nil {
		return found, nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	lock, err := lockFolder(c.DataDir)
	if err != nil {
		return found, nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if key, err = c.keyNeeded(ctx, from); err != nil {
		return found, nil, err
	}
	if err := pgstore.CheckEmpty(ctx, c.DatabaseURL); err != nil {
		return found, nil, err
	}
	to, err := pgstore.OpenWith(ctx, c.DatabaseURL, migrations.Auto, log)
	if err == nil {
		err = to.Close()
	}
	if err != nil {
		return found, nil, err
	}
	err = from.Dump(ctx, func(d sqlitestore.Dump) error {
		found, err = pgstore.Fill(ctx, c.DatabaseURL, d, log)
		return err
	})
	return found, key, err
}

// openFile opens the database of the folder for reading.
func (c Config) openFile(ctx context.Context) (*sqlitestore.Auditor, error) {
	if err := c.findFile(); err != nil {
		return nil, err
	}
	from, err := sqlitestore.OpenAuditor(ctx, c.DataDir)
	return from, c.nameFolder(err)
}

// keyNeeded returns which key file the database needs, and in Err whether that file has all its keys. It returns nil if
// the database needs no key. An error means that the database could not be read.
func (c Config) keyNeeded(ctx context.Context, from *sqlitestore.Auditor) (*KeyNeeded, error) {
	needed, err := from.Setting(ctx, settingDataKeys)
	if err != nil || len(needed) == 0 {
		return nil, err
	}
	key := &KeyNeeded{File: c.DataKeyFile}
	if key.File == "" {
		key.File = filepath.Join(c.DataDir, DataKeyName)
	}
	keys, err := secret.Read(key.File)
	if err == nil {
		err = keys.Check(needed)
	}
	key.Err = err
	return key, nil
}
