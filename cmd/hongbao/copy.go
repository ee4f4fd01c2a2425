package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"

	"hongbao/store"
)

func copyCommand() command {
	return command{name: "copy", summary: "copy the embedded database into an empty Postgres database, with the server stopped", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(ctx context.Context, p *program) error {
			if !p.config.scaled() {
				return errors.New("where to? Set HONGBAO_DATABASE_URL to an empty Postgres database, as the role that migrates it; HONGBAO_DATA_DIR is what is copied")
			}
			if err := p.copyFiles(ctx); err != nil { // first, because it can go on after it was interrupted
				return err
			}
			found, key, err := store.Copy(ctx, p.config.engines(), p.log())
			if err != nil {
				return explainNoBooks(err)
			}
			p.print(fmt.Sprintf("copied: %d wallets, %d packets, %d transfers, %d entries in %d rooms; %d heads of hash chains and all sums are the same\n",
				found.Wallets, found.Packets, found.Transfers, found.Entries, found.Rooms, len(found.Heads)))
			if n := len(found.Differences); n > 0 {
				p.print(fmt.Sprintf("the audit finds the same %d differences in both: hongbao audit prints them\n", n))
			}
			p.printKeys(key)
			p.print("start the instances with these keys (HONGBAO_DATA_KEY_FILE, HONGBAO_GUEST_KEY_FILE), and never again a server on " + p.config.DataDir + "\n")
			return nil
		}
	}}
}

// copyFiles copies the files of the data folder to HONGBAO_FILES. Without that, it says where they are.
func (p *program) copyFiles(ctx context.Context) error {
	c := p.config.engines()
	if !c.HasFiles() {
		return nil
	}
	done, err := store.CopyFiles(ctx, c, p.progress())
	if errors.Is(err, store.ErrNoFiles) {
		p.print(fmt.Sprintf("the files were not copied: set HONGBAO_FILES for the instances, and copy %s there\n", filepath.Join(c.DataDir, "files")))
		return nil
	}
	if err == nil {
		p.print(fmt.Sprintf("copied: %d objects of files, %d bytes\n", done.Objects, done.Bytes))
	}
	return err
}
