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

// postgres fills a database of Postgres by COPY.
type postgres struct{ conn *pgx.Conn }

func (p postgres) begin(ctx context.Context) error {
	return p.exec(ctx, `begin; set local synchronous_commit = off`)
}

func (p postgres) commit(ctx context.Context) error { return p.exec(ctx, `commit`) }

func (p postgres) chain(ctx context.Context, at int64) (number int64, err error) {
	err = p.conn.QueryRow(ctx, addChain, at).Scan(&number)
	return number, err
}

const addChain = `insert into chains (instance, at, free) values ('hongbao-bench fill', $1, true) returning id`

func (p postgres) insert(ctx context.Context, table string, columns []string, rows [][]any) error {
	_, err := p.conn.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
	return err
}

func (p postgres) exec(ctx context.Context, statement string) error {
	_, err := p.conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	return err
}

func (p postgres) finish(ctx context.Context) error { return p.exec(ctx, `vacuum analyze`) }

// embedded fills the embedded database.
type embedded struct {
	db *sql.DB
	tx *sql.Tx
}

// openSQLite opens the database in a data folder, whose schema was made. No server may use it.
func openSQLite(folder string) (*embedded, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, sqlitestore.FileName)+"?_pragma=synchronous(off)&_pragma=cache_size(-500000)")
	return &embedded{db: db}, err
}

func (s *embedded) begin(ctx context.Context) (err error) {
	s.tx, err = s.db.BeginTx(ctx, nil)
	return err
}

func (s *embedded) commit(context.Context) error { return s.tx.Commit() }

func (s *embedded) chain(ctx context.Context, at int64) (number int64, err error) {
	err = s.tx.QueryRowContext(ctx, addChain, at).Scan(&number)
	return number, err
}

func (s *embedded) insert(ctx context.Context, table string, columns []string, rows [][]any) (err error) {
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

func (s *embedded) exec(ctx context.Context, statement string) error {
	_, err := s.tx.ExecContext(ctx, statement)
	return err
}

func (s *embedded) finish(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `analyze`)
	return err
}
