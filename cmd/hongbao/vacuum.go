package main

import (
	"context"
	"flag"

	"hongbao/store"
)

func vacuumCommand() command {
	return command{name: "vacuum", summary: "write the embedded database anew, so that its file has nothing left of what was erased", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(ctx context.Context, p *program) error {
			if err := store.Vacuum(ctx, p.config.engines()); err != nil {
				return explainNoBooks(err)
			}
			p.print("the database in " + p.config.DataDir + " is written anew\n")
			return nil
		}
	}}
}
