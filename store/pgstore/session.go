package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// querier reads: the writer sees its own transaction, a reader committed data only.
type querier interface {
	// row scans the single row of a query into dest; found is false when there is none.
	row(query string, args []any, dest ...any) (found bool, err error)
	query(query string, args ...any) (pgx.Rows, error)
	// batch sends all statements in one round trip; what they were queued with reads their results, in order.
	batch(b *pgx.Batch) error
}

// reader is a querier over one connection: each statement by itself, or all of them on one snapshot.
type reader struct {
	ctx  context.Context
	conn *pgx.Conn
}

func (r reader) query(query string, args ...any) (pgx.Rows, error) {
	return r.conn.Query(r.ctx, query, args...)
}

func (r reader) row(query string, args []any, dest ...any) (found bool, err error) {
	err = r.conn.QueryRow(r.ctx, query, args...).Scan(dest...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (r reader) batch(b *pgx.Batch) error { return r.conn.SendBatch(r.ctx, b).Close() }

// writer is one transaction. It may be run more than once: what it gathers is set anew each time.
type writer struct {
	reader
	// again says that an earlier run of the same transaction may have been committed: by its own ids it
	// recognises what it has done.
	again bool
}

func (w *writer) exec(query string, args ...any) (affected int64, err error) {
	tag, err := w.conn.Exec(w.ctx, query, args...)
	return tag.RowsAffected(), err
}

// rows reads a whole result, one T a row.
func rows[T any](q querier, scan func(pgx.Rows) (T, error), query string, args ...any) ([]T, error) {
	rs, err := q.query(query, args...)
	if err != nil {
		return nil, err
	}
	return collect(rs, scan)
}

// collect reads what is left of a result, one T a row, and closes it.
func collect[T any](rs pgx.Rows, scan func(pgx.Rows) (T, error)) (all []T, err error) {
	defer rs.Close()
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
