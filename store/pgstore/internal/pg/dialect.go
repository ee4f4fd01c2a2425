package pg

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Dialect implements tables.Dialect.
type Dialect struct{}

// In implements tables.Dialect.
func (Dialect) In(n int) string { return fmt.Sprintf(`= any($%d)`, n) }

// List implements tables.Dialect.
func (Dialect) List(texts []string) any { return texts }

// Values implements tables.Dialect.
func (Dialect) Values(n int) string { return fmt.Sprintf(`(select unnest($%d::text[]) as value)`, n) }

// InOrder implements tables.Dialect.
func (Dialect) InOrder(n int) string {
	return fmt.Sprintf(`(select value, n from unnest($%d::text[]) with ordinality u (value, n))`, n)
}

// Records implements tables.Dialect.
func (Dialect) Records(n int, alias, columns string) string {
	return fmt.Sprintf(`json_to_recordset($%d::json) as %s (%s)`, n, alias, columns)
}

// Lock implements tables.Dialect.
func (Dialect) Lock() string { return ` for update` }

// LockFree implements tables.Dialect.
func (Dialect) LockFree() string { return ` for update skip locked` }

// Is implements tables.Dialect.
func (Dialect) Is(column string, value bool) string {
	if value {
		return column
	}
	return `not ` + column
}

// JSON implements tables.Dialect.
func (Dialect) JSON(column string) string { return `array_to_json(` + column + `)::text` }

// Array implements tables.Dialect.
func (Dialect) Array(into any) any { return into }

// ArrayOf implements tables.Dialect.
func (Dialect) ArrayOf(list any) any { return list }

// Storable implements tables.Dialect. With other texts, Postgres would return an error instead of no row.
func (Dialect) Storable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// Clock implements tables.Dialect.
func (Dialect) Clock() string { return `(extract(epoch from clock_timestamp()) * 1000)::bigint` }

// Bytes implements tables.Dialect.
func (Dialect) Bytes(column string) string { return column + ` collate "C"` }

// Like implements tables.Dialect.
func (Dialect) Like(column string, n int) string {
	return fmt.Sprintf(`lower(%s collate "C") like lower($%d::text collate "C") escape '\'`, column, n)
}
