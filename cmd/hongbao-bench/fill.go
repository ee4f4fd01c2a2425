package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"hongbao/cmd/hongbao-bench/fill"
)

// fillCommand is the subcommand that makes a large database.
func fillCommand() command {
	return command{
		name: "fill", summary: "make a large database, in Postgres by COPY or in a data folder, to see how commands and audits grow",
		setup: func(fs *flag.FlagSet) func(ctx context.Context, p *program) error {
			database := fs.String("database", "", "URL of an empty Postgres database; its schema is made")
			folder := fs.String("data", "", "data folder for the embedded database, in place of --database; both are made")
			scale := fs.Float64("scale", 0.01, "1: 20 M entries, 1 M packets, 5 M claims, 1 M rooms, 200 k users, a user with 50 k wins, one with 2,000 rooms, a room of 100 k members")
			return func(ctx context.Context, p *program) error {
				switch {
				case (*database == "") == (*folder == ""):
					return errors.New("want --database or --data")
				case *scale <= 0:
					return fmt.Errorf("a --scale of %v makes nothing", *scale)
				}
				var done fill.Progress
				said := time.Now()
				err := fill.Database(ctx, *database, *folder, fill.Full.Times(*scale), func(so fill.Progress) {
					if done = so; time.Since(said) > 5*time.Second {
						said = time.Now()
						p.say("%d rows, %d of %d entries, %.0f s", so.Rows, so.Entries, so.Of, so.Took.Seconds())
					}
				})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.stdout, "%d rows in %.0f s; large are the room %s, the rooms of %s and the wins of %s\n",
					done.Rows, done.Took.Seconds(), fill.Crowd, fill.Joiner, fill.Winner)
				return err
			}
		},
	}
}
