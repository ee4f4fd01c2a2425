package sqlitestore

import (
	"context"
	"database/sql"
	"errors"

	"hongbao/store/secret"
	"hongbao/store/tables"
)

// reader runs statements that read: a single statement on any connection of the pool, or, in one transaction, several
// statements that must see the same data.
type reader struct {
	dialect
	ctx  context.Context
	keys *secret.Keys
	on   interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
}

// reader returns a reader outside a transaction.
func (s *Store) reader(ctx context.Context) reader { return reader{ctx: ctx, keys: s.keys, on: s.read} }

// Keys implements tables.Querier.
func (r reader) Keys() *secret.Keys { return r.keys }

// Each implements tables.Querier.
func (r reader) Each(scan func(tables.Row) error, query string, args ...any) error {
	rs, err := r.query(query, args...)
	if err != nil {
		return err
	}
	return each(rs, scan)
}

// each calls scan with each row of a result, and closes the result: its statement can run again only after that.
func each(rs *sql.Rows, scan func(tables.Row) error) (err error) {
	defer func() { err = errors.Join(err, rs.Close()) }()
	for rs.Next() {
		if err := scan(rs); err != nil {
			return err
		}
	}
	return rs.Err()
}

func (r reader) query(query string, args ...any) (*sql.Rows, error) {
	return r.on.QueryContext(r.ctx, query, args...)
}

// Row implements tables.Querier.
func (r reader) Row(query string, args []any, dest ...any) (found bool, err error) {
	err = r.on.QueryRowContext(r.ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// view calls look with a reader of one snapshot of the database.
func (s *Store) view(ctx context.Context, look func(r reader) error) error {
	return s.read.view(ctx, s.keys, look)
}

func (p *pool) view(ctx context.Context, keys *secret.Keys, look func(r reader) error) error {
	tx, err := p.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written, so an error here does not matter
	return look(reader{ctx: ctx, keys: keys, on: tx})
}
