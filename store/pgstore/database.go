package pgstore

import (
	"context"

	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/stream"
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

// ReadBatch implements tables.DB. If a statement fails, the connection stays in a transaction, so the pool closes it on release.
func (d database) ReadBatch(ctx context.Context, fill func(tables.Querier, *tables.Batch)) error {
	return d.s.withReader(ctx, func(r reader) error {
		var b tables.Batch
		b.Exec(`begin read only, isolation level repeatable read`)
		fill(r, &b)
		b.Exec(`commit`)
		return r.SendBatch(pg.Queued(&b))
	})
}

// Stream implements tables.DB.
func (d database) Stream(ctx context.Context, fn func(tables.StreamReader) error) error {
	return d.s.withSnapshot(ctx, func(r reader) error { return fn(stream.Reader{Reader: r}) })
}

// Lateral implements tables.DB.
func (d database) Lateral() bool { return !d.s.citus }

// Write implements tables.DB.
func (d database) Write(ctx context.Context, fn func(tables.Tx) error) error {
	return d.s.tx(ctx, func(w *writer) error { return fn(w) })
}
