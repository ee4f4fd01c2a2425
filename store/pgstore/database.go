package pgstore

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"hongbao/store/tables"
)

// database is the tables.DB of a store.
type database struct {
	dialect
	s *Store
}

// Read implements tables.DB.
func (d database) Read(ctx context.Context, fn func(tables.Querier) error) error {
	return d.s.withReader(ctx, func(r reader) error { return fn(r) })
}

// Snapshot implements tables.DB.
func (d database) Snapshot(ctx context.Context, fn func(tables.Querier) error) error {
	return d.s.withSnapshot(ctx, func(r reader) error {
		r.keys = d.s.keys
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

// dialect implements tables.Dialect.
type dialect struct{}

func (dialect) In(n int) string { return fmt.Sprintf(`= any($%d)`, n) }

func (dialect) List(texts []string) any { return texts }

func (dialect) Values(n int) string { return fmt.Sprintf(`(select unnest($%d::text[]) as value)`, n) }

func (dialect) InOrder(n int) string {
	return fmt.Sprintf(`(select value, n from unnest($%d::text[]) with ordinality u (value, n))`, n)
}

func (dialect) Lock() string { return ` for update` }

func (dialect) LockFree() string { return ` for update skip locked` }

func (dialect) Is(column string, value bool) string {
	if value {
		return column
	}
	return `not ` + column
}

func (dialect) Array(into any) any { return into }

// Storable implements tables.Dialect. With other texts, Postgres would return an error instead of no row.
func (dialect) Storable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

func (dialect) Clock() string { return `(extract(epoch from clock_timestamp()) * 1000)::bigint` }

func (dialect) Next(_, _ string) string { return `default` } // an identity column

func (dialect) DeleteEvents() string { return deleteEvents }

func (dialect) Bytes(column string) string { return column + ` collate "C"` }

func (dialect) Like(column string, n int) string {
	return fmt.Sprintf(`lower(%s collate "C") like lower($%d::text collate "C") escape '\'`, column, n)
}
