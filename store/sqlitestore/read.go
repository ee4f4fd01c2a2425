package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// querier reads: the writer sees its own transaction, a reader committed data only.
type querier interface {
	// row scans the single row of a query into dest; found is false when there is none.
	row(query string, args []any, dest ...any) (found bool, err error)
	query(query string, args ...any) (*sql.Rows, error)
}

// reader is a querier over the reading pool: over all of it for a single statement, or over one
// transaction for several that must agree.
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

// view runs look on one snapshot of the database.
func (s *Store) view(ctx context.Context, look func(r reader) error) error {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written: the end of a read cannot fail it
	return look(reader{ctx, tx})
}

// rows reads a whole result, one T a row, and closes it: a statement must be done before it runs again.
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

// fromMillis is a stored time.
func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
