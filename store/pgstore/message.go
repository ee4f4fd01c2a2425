package pgstore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// message is several statements that are sent to Postgres as one simple Query. Postgres runs them without waiting for
// the client in between. So if a whole transaction is one message, it holds no lock while the client is frozen or
// gone. The zero value is ready.
type message struct {
	text  []byte
	scans []func(pgx.Rows) error // one for each statement, to read its rows; nil: they are not read
	err   error                  // set if an argument cannot be sent
}

// add appends a statement without arguments.
func (m *message) add(sql string) {
	m.text = append(append(m.text, sql...), ";\n"...)
	m.scans = append(m.scans, nil)
}

// run appends a statement whose arguments replace $1 to $9: lists of strings, numbers or bytes. If the statement is
// prepared on this connection, name is its name, otherwise "". scan reads the rows.
func (m *message) run(scan func(pgx.Rows) error, name, sql string, args ...any) {
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
func (m *message) expand(sql string, args []any) {
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
func (m *message) list(arg any) {
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

// item appends one string of an array. Quotes and backslashes are escaped twice: for the array and for the literal.
func (m *message) item(s string) {
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
			m.err = errZeroByte
		default:
			m.text = append(m.text, '\\', c)
		}
		from += i + 1
	}
}

// send sends the message to Postgres and passes the rows to the scans.
func (m *message) send(r reader) error {
	if m.err != nil {
		return m.err
	}
	for setting, want := range map[string]string{"standard_conforming_strings": "on", "client_encoding": "UTF8"} {
		if have := r.conn.PgConn().ParameterStatus(setting); have != want {
			return fmt.Errorf("setting %s is %q at Postgres, need %s to send texts safely", setting, have, want)
		}
	}
	results := r.conn.PgConn().Exec(r.ctx, string(m.text))
	for i := 0; results.NextResult(); i++ {
		result := results.ResultReader()
		if m.scans[i] != nil {
			if err := m.scans[i](pgx.RowsFromResultReader(r.conn.TypeMap(), result)); err != nil {
				return errors.Join(err, results.Close())
			}
		}
		_, _ = result.Close() // results reports its error
	}
	return results.Close()
}

// oneProcess is the key of a connection's custom data. Its value tells whether the same Postgres process always
// answers.
const oneProcess = "one process"

// prepareAll makes Postgres parse and plan the statements once for this connection, which saves much of the cost of a
// small transaction. It returns the names of the prepared statements. Behind PgBouncer the names are empty: each
// transaction may run in another process, which does not know the statements.
func (r reader) prepareAll(statements ...string) (names []string, err error) {
	names = make([]string, len(statements))
	if fixed, err := r.sameProcess(); err != nil || !fixed {
		return names, err
	}
	for i, sql := range statements {
		prepared, err := r.conn.Prepare(r.ctx, sql, sql) // does nothing if the statement is prepared already
		if err != nil {
			return nil, err
		}
		names[i] = prepared.Name
	}
	return names, nil
}

func (r reader) sameProcess() (bool, error) {
	known := r.conn.PgConn().CustomData()
	if fixed, ok := known[oneProcess].(bool); ok {
		return fixed, nil
	}
	var process uint32
	_, err := r.row(`select pg_backend_pid()`, nil, &process)
	if err == nil {
		known[oneProcess] = process == r.conn.PgConn().PID()
	}
	return process == r.conn.PgConn().PID(), err
}
