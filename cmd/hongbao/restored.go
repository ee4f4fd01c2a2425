package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"hongbao/store"
)

func restoredCommand() command {
	return command{name: "restored", summary: "begin a new epoch, after you have restored the database from a backup", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(ctx context.Context, p *program) error {
			return p.withBooks(ctx, func(books *store.Books) error { return p.restored(ctx, books) })
		}
	}}
}

// restored begins a new epoch of a database that was restored from a backup. Servers that run notice it within a second.
func (p *program) restored(ctx context.Context, books *store.Books) error {
	read, err := books.Lineage.State(ctx)
	if err != nil {
		return err
	}
	_, renewed, err := books.Lineage.Renew(ctx, read)
	switch {
	case err != nil:
		return err
	case renewed == nil:
		return errors.New("a server has begun a new epoch at the same moment: nothing is left to do")
	}
	_, err = fmt.Fprintf(p.stdout, `a new epoch has begun: %s
next seeds forgotten: %d
open packets that servers will end early: %d
clients load the history of their rooms again
`, renewed.Epoch, renewed.Seeds, renewed.Packets)
	return err
}
