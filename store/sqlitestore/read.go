package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"hongbao/chat"
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

// Standing implements chat.Store.
func (s *Store) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	st, err := tables.ReadStanding(s.reader(ctx), room, user)
	return st, tables.Outcome("read standing", err)
}

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

// send runs the statements of a batch that only reads.
func send(r reader, b *tables.Batch) error {
	for _, st := range b.Statements {
		if err := r.Each(st.Scan, st.Text, st.Args...); err != nil {
			return err
		}
	}
	return nil
}

func (p *pool) view(ctx context.Context, keys *secret.Keys, look func(r reader) error) error {
	tx, err := p.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written, so an error here does not matter
	return look(reader{ctx: ctx, keys: keys, on: tx})
}

// pool is the pool of reading connections. It keeps a prepared statement for each query outside a transaction: there is a
// limited number of different queries, and preparing one often takes longer than running it.
type pool struct {
	*sql.DB

	mu    sync.Mutex
	stmts map[string]*sql.Stmt // guarded by mu
}

func newPool(db *sql.DB) *pool { return &pool{DB: db, stmts: map[string]*sql.Stmt{}} }

// prepared returns the prepared statement of a query, and prepares it if it is new.
func (p *pool) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	p.mu.Lock()
	st := p.stmts[query]
	p.mu.Unlock()
	if st != nil {
		return st, nil
	}
	st, err := p.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.stmts[query]; first != nil {
		_ = st.Close() // another goroutine has prepared the same query
		return first, nil
	}
	p.stmts[query] = st
	return st, nil
}

// QueryContext runs a query by its prepared statement. It is part of the interface that reader uses.
func (p *pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := p.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// QueryRowContext runs a query for one row by its prepared statement. It is part of the interface that reader uses.
func (p *pool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := p.prepared(ctx, query)
	if err != nil {
		return p.DB.QueryRowContext(ctx, query, args...) // returns the same error as the failed preparation
	}
	return st.QueryRowContext(ctx, args...)
}
