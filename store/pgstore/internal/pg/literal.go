package pg

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// Values travel to Postgres in the text of a simple Query, as literals. In a literal stand only printable ASCII characters, and neither
// quotes nor backslashes but those that begin a code point: every other character is written as its code point, as in
// U&'it\0027s'. So no text of a user can end a literal, whatever the settings of the session are. If
// standard_conforming_strings is off, Postgres refuses the form U&'…' before it runs anything.

// ErrNoText is the error that Postgres returns for a text parameter that it cannot store: one with U+0000, or not in UTF-8.
var ErrNoText = &pgconn.PgError{
	Severity: "ERROR", Code: "22021", Message: "invalid text: it contains U+0000, or is not in UTF-8",
	Hint: "The statement was not sent: Postgres stores no such text.",
}

// InlineBatch does what Inline does for each statement of a batch.
func InlineBatch(conn *pgx.Conn, b *pgx.Batch) error {
	for _, q := range b.QueuedQueries {
		text, err := Inline(conn, q.SQL, q.Arguments)
		if err != nil {
			return err
		}
		q.SQL, q.Arguments = text, nil
	}
	return nil
}

// Inline returns the statement with the arguments in place of $1, $2 and so on, but not in comments. It fails if Postgres could not store an
// argument.
func Inline(conn *pgx.Conn, statement string, args []any) (string, error) {
	text, err := inline(make([]byte, 0, len(statement)+32*len(args)), conn.TypeMap(), statement, args)
	return string(text), err
}

func inline(to []byte, types *pgtype.Map, statement string, args []any) (_ []byte, err error) {
	if len(args) == 0 {
		return append(to, statement...), nil
	}
	for {
		i := strings.IndexAny(statement, "$/")
		if i < 0 {
			return append(to, statement...), nil
		}
		to, statement = append(to, statement[:i]...), statement[i:]
		if statement[0] == '/' {
			n := 1
			if strings.HasPrefix(statement, "/*") {
				n = 1 + max(0, strings.Index(statement, "*/"))
			}
			to, statement = append(to, statement[:n]...), statement[n:]
			continue
		}
		digits := len(statement) - len(strings.TrimLeft(statement[1:], "0123456789"))
		n, err := strconv.Atoi(statement[1:digits])
		if err != nil || n < 1 || n > len(args) {
			return nil, fmt.Errorf("there is no argument %s of %d", statement[:digits], len(args))
		}
		if to, err = appendValue(to, types, args[n-1]); err != nil {
			return nil, err
		}
		statement = statement[digits:]
	}
}

// appendValue appends a value as Postgres reads it: a literal without a type, or null. Without types, it knows only whole numbers, texts, and
// lists.
func appendValue(to []byte, types *pgtype.Map, value any) ([]byte, error) {
	switch value := value.(type) {
	case string:
		return appendText(to, value)
	case int:
		return appendText(to, strconv.Itoa(value))
	case int64:
		return appendText(to, strconv.FormatInt(value, 10))
	case []string:
		return appendList(to, value, appendItem)
	case []int64:
		return appendList(to, value, func(to []byte, n int64) []byte { return strconv.AppendInt(to, n, 10) })
	case [][]byte:
		return appendList(to, value, appendBytes)
	}
	if types == nil {
		return nil, fmt.Errorf("unsupported argument of type %T in a message", value)
	}
	text, err := types.Encode(0, pgtype.TextFormatCode, value, []byte{})
	switch {
	case err != nil:
		return nil, fmt.Errorf("write a %T into a query: %w", value, err)
	case text == nil:
		return append(to, "null"...), nil
	}
	return appendText(to, string(text))
}

// appendList appends an array literal; a list that is nil has no items. item appends one item as it stands in the text of an array.
func appendList[T any](to []byte, list []T, item func([]byte, T) []byte) ([]byte, error) {
	text := append(make([]byte, 0, 32*len(list)), '{')
	for i, one := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = item(text, one)
	}
	return appendText(to, string(append(text, '}')))
}

// appendBytes appends bytes as an item of an array, or a null.
func appendBytes(to []byte, b []byte) []byte {
	if b == nil {
		return append(to, "NULL"...)
	}
	return append(hex.AppendEncode(append(to, `"\\x`...), b), '"')
}

// appendItem appends a text as an item of an array: in double quotes, with a backslash before each double quote and each backslash.
func appendItem(to []byte, s string) []byte {
	to = append(to, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			to = append(to, '\\')
		}
		to = append(to, s[i])
	}
	return append(to, '"')
}

// appendText appends a literal.
func appendText(to []byte, s string) ([]byte, error) {
	safe := 0 // characters from the beginning that stand for themselves
	for safe < len(s) && standsForItself(s[safe]) {
		safe++
	}
	if safe == len(s) {
		return append(append(append(to, '\''), s...), '\''), nil
	}
	if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		return nil, ErrNoText
	}
	to = append(to, "U&'"...)
	for _, c := range s {
		switch {
		case c < utf8.RuneSelf && standsForItself(byte(c)):
			to = append(to, byte(c))
		case c <= 0xffff:
			to = append(to, '\\', hexDigits[c>>12], hexDigits[c>>8&15], hexDigits[c>>4&15], hexDigits[c&15])
		default:
			to = fmt.Appendf(to, `\+%06x`, c)
		}
	}
	return append(to, '\''), nil
}

const hexDigits = "0123456789abcdef"

// standsForItself reports whether a character of a literal is written as it is.
func standsForItself(c byte) bool { return ' ' <= c && c <= '~' && c != '\'' && c != '\\' }
