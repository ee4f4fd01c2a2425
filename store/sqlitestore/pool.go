package sqlitestore

import (
	"context"
	"database/sql"
	"sync"
)

// pool is the reading connections. What is asked of them outside a transaction they prepare once: the queries of this
// package are constants, and to understand one takes longer than to answer it.
type pool struct {
	*sql.DB

	mu    sync.Mutex
	stmts map[string]*sql.Stmt // guarded by mu
}

func newPool(db *sql.DB) *pool { return &pool{DB: db, stmts: map[string]*sql.Stmt{}} }

// prepared gives the statement of a query.
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
		_ = st.Close() // nothing has been asked of it
		return first, nil
	}
	p.stmts[query] = st
	return st, nil
}

// QueryContext is for reader.
func (p *pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := p.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// QueryRowContext is for reader.
func (p *pool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := p.prepared(ctx, query)
	if err != nil {
		return p.DB.QueryRowContext(ctx, query, args...) // which says it again
	}
	return st.QueryRowContext(ctx, args...)
}
