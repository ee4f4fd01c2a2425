package pgstore

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
