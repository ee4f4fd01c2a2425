package pg

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Message is several statements that are sent to Postgres as one simple Query. Postgres runs them without waiting for
// the client in between. So if a whole transaction is one message, it holds no lock while the client is frozen or
// gone. The zero value is ready.
type Message struct {
	text  []byte
	scans []func(pgx.Rows) error // one for each statement, to read its rows; nil: they are not read
	err   error                  // set if an argument cannot be sent
}

// Add appends a statement without arguments.
func (m *Message) Add(sql string) {
	m.text = append(append(m.text, sql...), ";\n"...)
	m.scans = append(m.scans, nil)
}

// Run appends a statement whose arguments replace $1 to $9. Each is a []string, []int64 or [][]byte. If the statement is
// prepared on this connection, name is its name, otherwise "". scan reads the rows.
func (m *Message) Run(scan func(pgx.Rows) error, name, sql string, args ...any) {
	if name == "" {
		m.expand(sql, args)
	} else {
		m.text = append(append(m.text, "execute "...), name...)
		for i, arg := range args {
			m.text = append(m.text, "(,"[min(i, 1)])
			m.list(arg)
		}
		m.text = append(m.text, ')')
	}
	m.text = append(m.text, ";\n"...)
	m.scans = append(m.scans, scan)
}

// expand appends the statement's text with the arguments in place of $1 to $9.
func (m *Message) expand(sql string, args []any) {
	for {
		before, after, found := strings.Cut(sql, "$")
		m.text = append(m.text, before...)
		if !found {
			return
		}
		m.list(args[after[0]-'1'])
		sql = after[1:]
	}
}

// list appends a list as an array literal, which the statement casts to its type.
func (m *Message) list(arg any) {
	m.text = append(m.text, "'{"...)
	switch list := arg.(type) {
	case []string:
		for _, s := range list {
			m.item(s)
		}
	case []int64:
		for _, n := range list {
			m.text = append(strconv.AppendInt(m.text, n, 10), ',')
		}
	case [][]byte:
		for _, b := range list {
			m.text = append(hex.AppendEncode(append(m.text, `"\\x`...), b), `",`...)
		}
	default:
		m.err = fmt.Errorf("unsupported argument of type %T in a message", arg)
	}
	if last := len(m.text) - 1; m.text[last] == ',' {
		m.text = m.text[:last]
	}
	m.text = append(m.text, "}'"...)
}

// item appends one string of an array. A single quote is doubled, for the literal. A double quote or a backslash gets a
// backslash before it, for the array.
func (m *Message) item(s string) {
	m.text = append(m.text, '"')
	for from := 0; ; {
		i := strings.IndexAny(s[from:], "'\"\\\x00")
		if i < 0 {
			m.text = append(append(m.text, s[from:]...), `",`...)
			return
		}
		m.text = append(m.text, s[from:from+i]...)
		switch c := s[from+i]; c {
		case '\'':
			m.text = append(m.text, "''"...)
		case 0: // it would end the message
			m.err = ErrZeroByte
		default:
			m.text = append(m.text, '\\', c)
		}
		from += i + 1
	}
}

// Raw appends parts of a statement: texts and whole numbers. End ends it.
func (m *Message) Raw(parts ...any) {
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			m.text = append(m.text, part...)
		case int:
			m.text = strconv.AppendInt(m.text, int64(part), 10)
		case int64:
			m.text = strconv.AppendInt(m.text, part, 10)
		default:
			m.err = fmt.Errorf("unsupported part of type %T in a message", part)
		}
	}
}

// Literal appends a string literal.
func (m *Message) Literal(s string) {
	m.text = append(m.text, '\'')
	for i := range len(s) {
		switch s[i] {
		case '\'':
			m.text = append(m.text, "''"...)
		case 0: // it would end the message
			m.err = ErrZeroByte
		default:
			m.text = append(m.text, s[i])
		}
	}
	m.text = append(m.text, '\'')
}

// End ends the statement that Raw and Literal have appended. scan reads its rows; nil: they are not read.
func (m *Message) End(scan func(pgx.Rows) error) {
	m.text = append(m.text, ";\n"...)
	m.scans = append(m.scans, scan)
}

// Grow makes room for n more bytes.
func (m *Message) Grow(n int) { m.text = slices.Grow(m.text, n) }

// Send sends the message to Postgres and passes the rows to the scans. It sends nothing if an argument cannot be sent,
// or if settings of the session make it unsafe to send texts in a statement.
func (m *Message) Send(r Reader) error {
	if m.err != nil {
		return m.err
	}
	for setting, want := range map[string]string{"standard_conforming_strings": "on", "client_encoding": "UTF8"} {
		if have := r.Conn.PgConn().ParameterStatus(setting); have != want {
			return fmt.Errorf("setting %s is %q at Postgres, need %s to send texts safely", setting, have, want)
		}
	}
	results := r.Conn.PgConn().Exec(r.Ctx, string(m.text))
	for i := 0; results.NextResult(); i++ {
		result := results.ResultReader()
		if m.scans[i] != nil {
			if err := m.scans[i](pgx.RowsFromResultReader(r.Conn.TypeMap(), result)); err != nil {
				return errors.Join(err, results.Close())
			}
		}
		_, _ = result.Close() // results reports its error
	}
	return results.Close()
}

// ErrZeroByte is the error that Postgres returns for a text parameter with the character U+0000. In the text of a simple
// Query that character would end the message.
var ErrZeroByte = &pgconn.PgError{
	Severity: "ERROR", Code: "22021", Message: `invalid byte sequence for encoding "UTF8": 0x00`,
	Hint: "The statement was not sent: no text that Postgres stores can contain U+0000.",
}

// PrepareAll makes Postgres parse the statements once for this connection and keep them, so that their plans can be used again.
// That saves much of the cost of a small transaction. PrepareAll returns the names of the prepared statements. Behind PgBouncer
// the names are empty: each transaction may run in another process, which does not know the statements.
func (r Reader) PrepareAll(statements ...string) (names []string, err error) {
	names = make([]string, len(statements))
	if fixed, err := SameProcess(r.Ctx, r.Conn); err != nil || !fixed {
		return names, err
	}
	for i, sql := range statements {
		prepared, err := r.Conn.Prepare(r.Ctx, sql, sql) // does nothing if the statement is prepared already
		if err != nil {
			return nil, err
		}
		names[i] = prepared.Name
	}
	return names, nil
}
