package pg

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
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
	m.text = append(m.text, sql...)
	m.end(nil)
}

// Run appends a statement with arguments. Each is a text, a whole number, or a list of type []string, []int64 or [][]byte. If the
// statement is prepared on this connection, name is its name, otherwise "". scan reads the rows.
func (m *Message) Run(scan func(pgx.Rows) error, name, sql string, args ...any) {
	if name == "" {
		m.take(inline(m.text, nil, sql, args))
	} else {
		m.text = append(append(m.text, "execute "...), name...)
		m.values(args)
	}
	m.end(scan)
}

// Insert appends a statement that inserts rows: into has its beginning, up to the word values, and rest what follows the rows. For the
// values of the rows and for scan see Run.
func (m *Message) Insert(scan func(pgx.Rows) error, into string, rows [][]any, rest string) {
	m.text = append(m.text, into...)
	for i, row := range rows {
		if i > 0 {
			m.text = append(m.text, ',')
		}
		m.values(row)
	}
	m.text = append(m.text, rest...)
	m.end(scan)
}

// values appends values in brackets.
func (m *Message) values(all []any) {
	for i, value := range all {
		m.text = append(m.text, "(,"[min(i, 1)])
		m.take(appendValue(m.text, nil, value))
	}
	m.text = append(m.text, ')')
}

// take makes the text longer, or notes the error.
func (m *Message) take(text []byte, err error) {
	if err != nil {
		m.err = err
		return
	}
	m.text = text
}

func (m *Message) end(scan func(pgx.Rows) error) {
	m.text = append(m.text, ";\n"...)
	m.scans = append(m.scans, scan)
}

// Grow makes room for n more bytes.
func (m *Message) Grow(n int) { m.text = slices.Grow(m.text, n) }

// Send sends the message to Postgres and passes the rows to the scans. It sends nothing if an argument cannot be sent.
func (m *Message) Send(r Reader) error {
	if m.err != nil {
		return m.err
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
