package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"time"

	"hongbao/store"
	"hongbao/store/secret"
)

func datakeyCommand() command {
	return command{name: "datakey", summary: "make a data key, or encrypt the database's seeds with it", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		file := fs.String("new", "", "write a new key to this file, which must not exist yet")
		encrypt := fs.Bool("encrypt", false, "encrypt all seeds of users with the first key, and print what still needs another one")
		pause := fs.Duration("pause", 15*time.Second, "wait so long for instances that still use another key; longer than the time between two readiness probes")
		return func(ctx context.Context, p *program) error {
			switch {
			case (*file != "") == *encrypt:
				return errors.New("say either --new <file> or --encrypt")
			case *encrypt:
				return p.withKeyedBooks(ctx, func(books *store.Books) error { return p.encryptSeeds(ctx, books, *pause) })
			}
			return p.newDataKey(*file)
		}
	}}
}

func (p *program) newDataKey(file string) error {
	if err := secret.Create(file); err != nil {
		return err
	}
	keys, err := secret.Read(file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s has the new data key %s; keep a copy, apart from the backups of the database\n", file, keys.First())
	return err
}

func (p *program) encryptSeeds(ctx context.Context, books *store.Books, pause time.Duration) error {
	done, err := books.EncryptSeeds(ctx, pause)
	if err != nil {
		return err
	}
	p.print(fmt.Sprintf("seeds of users newly encrypted with the key %s: %d\n", done.Key, done.Seeds.Changed))
	for _, key := range slices.Sorted(maps.Keys(done.Packets)) {
		if key == "" {
			p.print(fmt.Sprintf("open packets that stay in clear until they end: %d\n", done.Packets[key]))
		} else {
			p.print(fmt.Sprintf("open packets that need the key %s until they end: %d; keep it, and run this again later\n", key, done.Packets[key]))
		}
	}
	if done.InUse {
		p.print("an instance still encrypts with another key: put the first key first in the file of each, restart it, and run this again\n")
	}
	if done.OnlyKey {
		p.print("the database needs no other key\n")
	}
	if n := done.Seeds.Failed; n > 0 {
		return fmt.Errorf("seeds that cannot be decrypted: %d; the database still needs all keys; the first are: %w", n, errors.Join(done.Seeds.Errs...))
	}
	return nil
}
