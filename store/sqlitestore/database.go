package sqlitestore

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"

	"hongbao/store/tables"
)

// database is the tables.DB of a store.
type database struct {
	dialect
	s *Store
}

// Read implements tables.DB.
func (d database) Read(ctx context.Context, fn func(tables.Querier) error) error {
	return fn(d.s.reader(ctx))
}

// Snapshot implements tables.DB.
func (d database) Snapshot(ctx context.Context, fn func(tables.Querier) error) error {
	return d.s.view(ctx, func(r reader) error { return fn(r) })
}

// ReadBatch implements tables.DB.
func (d database) ReadBatch(ctx context.Context, fill func(tables.Querier, *tables.Batch)) error {
	return d.s.view(ctx, func(r reader) error {
		var b tables.Batch
		fill(r, &b)
		return send(r, &b)
	})
}

// Stream implements tables.DB.
func (d database) Stream(ctx context.Context, fn func(tables.StreamReader) error) error {
	return d.s.view(ctx, func(r reader) error { return fn(r) })
}

// Write implements tables.DB.
func (d database) Write(ctx context.Context, fn func(tables.Tx) error) error {
	return d.s.do(ctx, func(w *writer) error { return fn(w) })
}

// Lateral implements tables.DB.
func (database) Lateral() bool { return false }

// dialect implements tables.Dialect. A list is an argument in JSON. There is one writer, so nothing is locked.
type dialect struct{}

func (dialect) In(n int) string { return fmt.Sprintf(`in (select value from json_each($%d))`, n) }

func (dialect) List(texts []string) any { return tables.JSON(texts) }

func (dialect) Values(n int) string { return fmt.Sprintf(`json_each($%d)`, n) }

func (dialect) InOrder(n int) string {
	return fmt.Sprintf(`(select value, key as n from json_each($%d))`, n)
}

func (dialect) Records(n int, alias, columns string) string {
	all := strings.Split(columns, ", ")
	for i, column := range all {
		name, _, _ := strings.Cut(column, " ")
		all[i] = `value ->> '$.` + name + `' as ` + name
	}
	return fmt.Sprintf(`(select %s from json_each($%d)) as %s`, strings.Join(all, ", "), n, alias)
}

func (dialect) Lock() string { return `` }

func (dialect) LockFree() string { return `` }

func (dialect) Is(column string, value bool) string {
	if value {
		return column + ` = 1`
	}
	return column + ` = 0`
}

func (dialect) JSON(column string) string { return column }

func (dialect) Array(into any) any { return storedJSON{into} }

func (dialect) ArrayOf(list any) any { return storedJSON{list} }

func (dialect) Storable(string) bool { return true }

// Clock implements tables.Dialect. Only this process writes, so its clock is the database's. SQLite's own clock would not be that of a test's bubble.
func (dialect) Clock() string { return clockFunction + `()` }

const clockFunction = "hongbao_clock"

// registerClock adds the function of Clock to all connections that are opened later.
var registerClock = sync.OnceValue(func() error {
	return sqlite.RegisterScalarFunction(clockFunction, 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return time.Now().UnixMilli(), nil
	})
})

func (dialect) Bytes(column string) string { return column }

func (dialect) Like(column string, n int) string {
	return fmt.Sprintf(`%s like $%d escape '\'`, column, n)
}

// storedJSON is a JSON document that is scanned or stored.
type storedJSON struct{ v any }

// Scan implements sql.Scanner.
func (j storedJSON) Scan(column any) error {
	if column == nil {
		return nil
	}
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("a document is stored as %T", column)
	}
	return json.Unmarshal([]byte(text), j.v)
}

// Value implements driver.Valuer.
func (j storedJSON) Value() (driver.Value, error) {
	text, err := json.Marshal(j.v)
	return string(text), err
}
