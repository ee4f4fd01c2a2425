package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao-bench/fill"
	"hongbao/migrations"
	"hongbao/store"
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
				if (*database == "") == (*folder == "") {
					return errors.New("want --database or --data")
				}
				if *scale <= 0 {
					return fmt.Errorf("a scale of %v makes nothing", *scale)
				}
				return fillDatabase(ctx, p, store.Config{DatabaseURL: *database, DataDir: *folder}, fill.Full.Times(*scale))
			}
		},
	}
}

func fillDatabase(ctx context.Context, p *program, c store.Config, size fill.Size) error {
	books, err := store.MakeBooks(ctx, c, migrations.Auto, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := books.Close(); err != nil {
		return err
	}
	to, closeSink, err := openSink(ctx, c)
	if err != nil {
		return err
	}
	var done fill.Progress
	last := time.Now()
	err = fill.Run(ctx, to, size, func(so fill.Progress) {
		if done = so; time.Since(last) > 5*time.Second {
			last = time.Now()
			p.say("%d rows, %d of %d entries, %.0f s", so.Rows, so.Entries, so.Of, so.Took.Seconds())
		}
	})
	if err := errors.Join(err, closeSink()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%d rows in %.0f s; large are the room %s, the rooms of %s and the wins of %s\n",
		done.Rows, done.Took.Seconds(), fill.Crowd, fill.Joiner, fill.Winner)
	return err
}

func openSink(ctx context.Context, c store.Config) (fill.Sink, func() error, error) {
	if !c.Scaled() {
		s, err := fill.OpenSQLite(c.DataDir)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}
	conn, err := pgx.Connect(ctx, c.DatabaseURL)
	if err != nil {
		return nil, nil, err
	}
	return fill.Postgres{Conn: conn}, func() error { return conn.Close(context.Background()) }, nil
}
