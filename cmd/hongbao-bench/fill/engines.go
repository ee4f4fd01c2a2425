package fill

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"hongbao/store/sqlitestore"
)

// Postgres fills a database of Postgres by COPY.
type Postgres struct{ Conn *pgx.Conn }

// Begin implements Sink.
func (p Postgres) Begin(ctx context.Context) error {
	return p.Exec(ctx, `begin; set local synchronous_commit = off`)
}

// Commit implements Sink.
func (p Postgres) Commit(ctx context.Context) error { return p.Exec(ctx, `commit`) }

// Chain implements Sink.
func (p Postgres) Chain(ctx context.Context, at int64) (number int64, err error) {
	err = p.Conn.QueryRow(ctx, addChain, at).Scan(&number)
	return number, err
}

const addChain = `insert into chains (instance, at, free) values ('hongbao-bench fill', $1, true) returning id`

// Copy implements Sink.
func (p Postgres) Copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	_, err := p.Conn.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
	return err
}

// Exec implements Sink.
func (p Postgres) Exec(ctx context.Context, statement string) error {
	_, err := p.Conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	return err
}

// Finish implements Sink.
func (p Postgres) Finish(ctx context.Context) error { return p.Exec(ctx, `vacuum analyze`) }

// SQLite fills the embedded database.
type SQLite struct {
	db *sql.DB
	tx *sql.Tx
}

// OpenSQLite opens the database in a data folder, whose schema was made. No server may use it.
func OpenSQLite(folder string) (*SQLite, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, sqlitestore.FileName)+"?_pragma=synchronous(off)&_pragma=cache_size(-500000)")
	return &SQLite{db: db}, err
}

// Close closes the database.
func (s *SQLite) Close() error { return s.db.Close() }

// Begin implements Sink.
func (s *SQLite) Begin(ctx context.Context) (err error) {
	s.tx, err = s.db.BeginTx(ctx, nil)
	return err
}

// Commit implements Sink.
func (s *SQLite) Commit(context.Context) error { return s.tx.Commit() }

// Chain implements Sink.
func (s *SQLite) Chain(ctx context.Context, at int64) (number int64, err error) {
	err = s.tx.QueryRowContext(ctx, addChain, at).Scan(&number)
	return number, err
}

// Copy implements Sink.
func (s *SQLite) Copy(ctx context.Context, table string, columns []string, rows [][]any) (err error) {
	insert, err := s.tx.PrepareContext(ctx, fmt.Sprintf(`insert into %s (%s) values (?%s)`, table, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1)))
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	for _, row := range rows {
		for i, value := range row {
			if row[i], err = asSQLite(value); err != nil {
				return err
			}
		}
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return nil
}

// asSQLite returns a value as the embedded database stores it: lists as JSON.
func asSQLite(value any) (any, error) {
	switch value := value.(type) {
	case []int64, []string:
		text, err := json.Marshal(value)
		return string(text), err
	default:
		return value, nil
	}
}

// Exec implements Sink.
func (s *SQLite) Exec(ctx context.Context, statement string) error {
	_, err := s.tx.ExecContext(ctx, statement)
	return err
}

// Finish implements Sink.
func (s *SQLite) Finish(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `analyze`)
	return err
}
