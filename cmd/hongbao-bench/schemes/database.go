package schemes

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Database is a fixed number of connections, opened beforehand. Callers wait for a free one.
type Database struct {
	gate

	url  string
	free chan *pgx.Conn
}

// Connect opens the connections.
func Connect(ctx context.Context, url string, connections int) (*Database, error) {
	db := &Database{gate: gate{killed: make(chan struct{})}, url: url, free: make(chan *pgx.Conn, connections)}
	for range connections {
		c, err := pgx.Connect(ctx, url)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("connect: %w", err), db.Close())
		}
		db.free <- c
	}
	return db, nil
}

// URL returns the URL of the database.
func (db *Database) URL() string { return db.url }

// With passes the gate, waits for a free connection and calls use with it. A broken connection is replaced before its next use.
func (db *Database) With(ctx context.Context, use func(c *pgx.Conn) error) error {
	if err := db.Pass(ctx); err != nil {
		return err
	}
	var c *pgx.Conn
	select {
	case c = <-db.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { db.free <- c }()
	if c.IsClosed() {
		fresh, err := pgx.Connect(ctx, db.url)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		c = fresh
	}
	return use(c)
}

// Transact runs do in one transaction, and commits unless do fails.
func (db *Database) Transact(ctx context.Context, do func(tx pgx.Tx) error) error {
	return db.With(ctx, func(c *pgx.Conn) error { return pgx.BeginFunc(ctx, c, do) })
}

// Exec runs one statement. Without arguments, it may also run several.
func (db *Database) Exec(ctx context.Context, statement string, args ...any) error {
	return db.With(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, statement, args...)
		return err
	})
}

// Close closes the idle connections and waits for no others. If every caller has returned, all connections are idle.
func (db *Database) Close() (failed error) {
	for {
		select {
		case c := <-db.free:
			failed = errors.Join(failed, c.Close(context.Background()))
		default:
			return failed
		}
	}
}

//go:embed tables.sql
var tables string

// MakeTables creates the tables of all published schemes, and drops those of an earlier call.
func (db *Database) MakeTables(ctx context.Context) error {
	if err := db.Exec(ctx, tables); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	return nil
}
