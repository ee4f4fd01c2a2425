package pgstore

import (
	"context"

	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// database is the tables.DB of a store.
type database struct {
	pg.Dialect
	s *Store
}

// Read implements tables.DB.
func (d database) Read(ctx context.Context, fn func(tables.Querier) error) error {
	return d.s.withReader(ctx, func(r reader) error { return fn(r) })
}

// Snapshot implements tables.DB.
func (d database) Snapshot(ctx context.Context, fn func(tables.Querier) error) error {
	return d.s.withSnapshot(ctx, func(r reader) error {
		r.DataKeys = d.s.keys
		return fn(r)
	})
}

// Stream implements tables.DB.
func (d database) Stream(ctx context.Context, fn func(tables.StreamReader) error) error {
	return d.s.withSnapshot(ctx, func(r reader) error { return fn(r) })
}

// Write implements tables.DB.
func (d database) Write(ctx context.Context, fn func(tables.Tx) error) error {
	return d.s.tx(ctx, func(w *writer) error { return fn(w) })
}
