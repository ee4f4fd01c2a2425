package pg

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Dialect implements tables.Dialect.
type Dialect struct{}

func (Dialect) In(n int) string { return fmt.Sprintf(`= any($%d)`, n) }

func (Dialect) List(texts []string) any { return texts }

func (Dialect) Values(n int) string { return fmt.Sprintf(`(select unnest($%d::text[]) as value)`, n) }

func (Dialect) InOrder(n int) string {
	return fmt.Sprintf(`(select value, n from unnest($%d::text[]) with ordinality u (value, n))`, n)
}

func (Dialect) Lock() string { return ` for update` }

func (Dialect) LockFree() string { return ` for update skip locked` }

func (Dialect) Is(column string, value bool) string {
	if value {
		return column
	}
	return `not ` + column
}

func (Dialect) JSON(column string) string { return `array_to_json(` + column + `)::text` }

func (Dialect) Array(into any) any { return into }

// Storable implements tables.Dialect. With other texts, Postgres would return an error instead of no row.
func (Dialect) Storable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

func (Dialect) Clock() string { return `(extract(epoch from clock_timestamp()) * 1000)::bigint` }

func (Dialect) Next(_, _ string) string { return `default` } // an identity column

func (Dialect) Bytes(column string) string { return column + ` collate "C"` }

func (Dialect) Like(column string, n int) string {
	return fmt.Sprintf(`lower(%s collate "C") like lower($%d::text collate "C") escape '\'`, column, n)
}
