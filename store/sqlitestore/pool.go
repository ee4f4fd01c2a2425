package sqlitestore

import (
	"context"
	"database/sql"
	"sync"
)

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
