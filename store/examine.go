package store

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"hongbao/migrations"
	"hongbao/store/finding"
	"hongbao/store/pgstore"
	"hongbao/store/redisstore"
	"hongbao/store/secret"
	"hongbao/store/sqlitestore"
)

// Examine checks the engines of the configuration for hongbao doctor. It migrates nothing, and makes neither the data folder
// nor a key.
func Examine(ctx context.Context, c Config) (all []finding.Finding) {
	if c.Scaled() {
		all = append(pgstore.Examine(ctx, c.DatabaseURL, c.Migrate), redisstore.Examine(ctx, c.RedisURL)...)
		if finding.Failed(all) {
			return all
		}
		return append(append(all, c.examineKey(ctx)...), c.examineFiles(ctx)...)
	}
	l := &finding.List{Part: "data folder"}
	switch _, err := os.Stat(filepath.Join(c.DataDir, sqlitestore.FileName)); {
	case errors.Is(err, fs.ErrNotExist):
		c.examineNewFolder(l)
		return l.All
	case err != nil:
		l.Fail(err.Error(), "let the user of the server read and write "+c.DataDir)
		return l.All
	}
	switch err := folderInUse(c.DataDir); {
	case errors.Is(err, ErrFolderInUse):
		l.Warn(err.Error(), "stop that server before you start another one here")
	case err != nil:
		l.Fail(err.Error(), "let the user of the server read and write "+c.DataDir)
	default:
		l.OK(c.DataDir + " has a database, and no server uses it")
	}
	return append(append(l.All, c.examineKey(ctx)...), c.examineFiles(ctx)...)
}

// examineFiles checks that the object store of HONGBAO_FILES can be read. It stores nothing there.
func (c Config) examineFiles(ctx context.Context) []finding.Finding {
	l := &finding.List{Part: "files"}
	switch {
	case c.Files.Address == "off", c.Files.Address == "" && c.Scaled():
		l.OK("users can send no pictures and other files: HONGBAO_FILES names no store")
		return l.All
	case c.Files.Address == "":
		return nil // a part of the data folder
	}
	store, err := c.openObjects()
	if err == nil {
		_, err = store.List(ctx, "", "", 1)
	}
	if err != nil {
		l.Fail(err.Error(), "correct HONGBAO_FILES, HONGBAO_FILES_KEY and HONGBAO_FILES_SECRET")
	} else {
		l.OK("the store of HONGBAO_FILES answers")
	}
	return l.All
}

// examineNewFolder checks that the server can write where the first start makes the database. It makes a file in the data
// folder or, if that does not exist, in the nearest folder above it that exists. Then it removes the file.
func (c Config) examineNewFolder(l *finding.List) {
	parent := c.DataDir
	for _, err := os.Stat(parent); err != nil && parent != filepath.Dir(parent); _, err = os.Stat(parent) {
		parent = filepath.Dir(parent)
	}
	probe, err := os.CreateTemp(parent, ".hongbao-doctor-")
	if err != nil {
		l.Fail(err.Error(), "let the user of the server write "+parent+", or set HONGBAO_DATA_DIR")
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name()) // if this fails, only an empty file is left
	l.OK(c.DataDir + " has no database yet: the first start makes it")
}

// examineKey checks the schema of an existing database, and that the key file has each data key that the database needs.
func (c Config) examineKey(ctx context.Context) []finding.Finding {
	l := &finding.List{Part: "data key"}
	books, err := OpenBooks(ctx, c, slog.New(slog.DiscardHandler))
	switch {
	case errors.Is(err, migrations.ErrOld) && c.Migrate == migrations.Auto:
		l.OK("not checked: the first start brings the schema up to date")
		return l.All
	case errors.Is(err, migrations.ErrOld):
		l.Fail(err.Error(), "run hongbao migrate")
		return l.All
	case err != nil:
		l.Fail(err.Error(), "see the page about upgrades")
		return l.All
	}
	defer func() { _ = books.Close() }() // nothing was written
	needed, err := books.sql.Setting(ctx, settingDataKeys)
	if err != nil {
		l.Fail(err.Error(), "let the role read the table settings")
		return l.All
	}
	file := c.DataKeyFile
	if file == "" && !c.Scaled() {
		file = filepath.Join(c.DataDir, DataKeyName)
	}
	var keys *secret.Keys
	if file != "" {
		if keys, err = secret.Read(file); errors.Is(err, fs.ErrNotExist) && len(needed) == 0 && c.DataKeyFile == "" {
			err = nil // the first start makes the key file
		}
	}
	if err == nil {
		err = keys.Check(needed)
	}
	switch {
	case err != nil:
		l.Fail(err.Error(), "restore the key file from its copy, and name it in HONGBAO_DATA_KEY_FILE")
	case file == "":
		l.Warn("there is none: passphrases, and seeds of open packets, are stored in clear", "run hongbao datakey --new, and set HONGBAO_DATA_KEY_FILE")
	default:
		l.OK("every key that the database needs is in " + file)
	}
	return l.All
}
