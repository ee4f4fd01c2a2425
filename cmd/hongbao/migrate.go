package main

import (
	"context"
	"flag"
	"fmt"

	"hongbao/migrations"
	"hongbao/store"
)

func migrateCommand() command {
	return command{name: "migrate", summary: "make the database, or bring it up to date, and stop", setup: func(flags *flag.FlagSet) func(context.Context, *program) error {
		split := flags.Bool("split", false, "on a Citus cluster, split tables that have rows already over the workers; first stop all instances")
		return func(ctx context.Context, p *program) error {
			mode := migrations.Auto
			if *split {
				mode = migrations.Split
			}
			books, err := store.MakeBooks(ctx, p.config.engines(), mode, p.log())
			if err != nil {
				return err
			}
			if err := books.Close(); err != nil {
				return err
			}
			where := "in " + p.config.DataDir
			if p.config.scaled() {
				where = "of HONGBAO_DATABASE_URL"
			}
			_, err = fmt.Fprintf(p.stdout, "the database %s is up to date\n", where)
			return err
		}
	}}
}
