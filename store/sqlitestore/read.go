package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// querier runs queries. A writer sees its own transaction, a reader only committed data.
type querier interface {
	// row scans the single row of a query into dest. It reports false if there is none.
	row(query string, args []any, dest ...any) (found bool, err error)
	query(query string, args ...any) (*sql.Rows, error)
}

// reader is a querier without writes. It runs a single statement on any connection of the pool, or several statements
// that must see the same data in one transaction.
type reader struct {
	ctx context.Context
	on  interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
}

func (r reader) query(query string, args ...any) (*sql.Rows, error) {
	return r.on.QueryContext(r.ctx, query, args...)
}

func (r reader) row(query string, args []any, dest ...any) (found bool, err error) {
	err = r.on.QueryRowContext(r.ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// view calls look with a reader of one snapshot of the database.
func (s *Store) view(ctx context.Context, look func(r reader) error) error {
	return s.read.view(ctx, look)
}

func (p *pool) view(ctx context.Context, look func(r reader) error) error {
	tx, err := p.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written, so an error here does not matter
	return look(reader{ctx, tx})
}

// rows reads and closes a whole result and returns one T for each row. Its statement can run again only after the
// close.
func rows[T any](q querier, scan func(*sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	rs, err := q.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	for rs.Next() {
		one, err := scan(rs)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rs.Err()
}

// fromMillis converts Unix milliseconds, as they are stored, to a time in UTC.
func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
