package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hongbao/chat/files"
	"hongbao/store"
)

func backupCommand() command {
	return command{name: "backup", summary: "copy the embedded database to a new file, even while a server runs", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		to := fs.String("to", "", "file that must not exist yet, or a folder: the file's name is then the present time")
		return func(ctx context.Context, p *program) error {
			if *to == "" {
				return errors.New("where to? Say --to <new file or folder>")
			}
			return p.backup(ctx, *to)
		}
	}}
}

func (p *program) backup(ctx context.Context, file string) error {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "hongbao-"+time.Now().UTC().Format("20060102T150405Z")+".db")
	}
	key, err := store.Backup(ctx, p.config.engines(), file)
	if err != nil {
		return explainNoBooks(err)
	}
	p.print(fmt.Sprintf("%s has the database of %s\n", file, p.config.DataDir))
	if err := p.backupFiles(ctx, filepath.Join(filepath.Dir(file), "hongbao-files")); err != nil {
		return err
	}
	p.printKeys(key)
	_, err = fmt.Fprintf(p.stdout, `to restore it:
  1. stop the server
  2. remove %[1]s, %[1]s-wal and %[1]s-shm
  3. copy the file to %[1]s, and the keys to where they were
  4. run hongbao restored
  5. start the server
`, p.config.engines().File())
	return err
}

// backupFiles copies the files of the data folder to another folder, if there are any. All backups beside that folder share it: an object never changes, so
// only new ones are copied. Files in an object store elsewhere are not copied.
func (p *program) backupFiles(ctx context.Context, to string) error {
	c := p.config.engines()
	if c.Files.Address != "" {
		if c.Files.Address != "off" {
			p.print(fmt.Sprintf("keep the files, too: they are in %s\n", c.Files.Address))
		}
		return nil
	}
	if !c.HasFiles() {
		return nil
	}
	done, err := store.BackupFiles(ctx, c, to, p.progress())
	if err == nil {
		p.print(fmt.Sprintf("%s has its files: %d objects of %d bytes; to restore them, copy this folder to %s\n", to, done.Objects, done.Bytes, filepath.Join(c.DataDir, "files")))
	}
	return err
}

// progress returns a function that logs every tenth second how many objects were copied.
func (p *program) progress() func(files.Examined) {
	last, log := time.Now(), p.log()
	return func(e files.Examined) {
		if now := time.Now(); now.Sub(last) >= 10*time.Second {
			last = now
			log.Info("copying files", "objects", e.Objects, "bytes", e.Bytes)
		}
	}
}

// printKeys names the key files that a copy of the embedded database needs.
func (p *program) printKeys(key *store.KeyNeeded) {
	switch {
	case key == nil:
	case key.Err != nil:
		p.print(fmt.Sprintf("WARNING: without its data key the copy loses the open packets and the next seeds, and the key is not here: %s\n", key.Err))
	default:
		p.print(fmt.Sprintf("keep its data key, apart from it: %s; without that file the open packets and the next seeds are lost\n", key.File))
	}
	guests := filepath.Join(p.config.DataDir, guestKeyFile)
	if _, err := os.Stat(guests); err == nil {
		p.print(fmt.Sprintf("keep the guests' key, too: %s; without it guests must sign in anew\n", guests))
	}
	push := filepath.Join(p.config.DataDir, pushKeyFile)
	if _, err := os.Stat(push); err == nil {
		p.print(fmt.Sprintf("keep the key of Web Push, too: %s; without it no notification arrives until users have opened the page again\n", push))
	}
}
