package pgstore

// oneProcess is what a connection knows of itself: whether it is always the same process of Postgres that answers.
const oneProcess = "one process"

// plan has Postgres parse and plan the statements once for this connection, instead of each time, which is a good part
// of what a small transaction costs. Not behind PgBouncer: it changes what is behind the connection with each
// transaction, and so the process that answers is none that the connection was told of.
func (r reader) plan(statements ...string) error {
	if fixed, err := r.fixed(); err != nil || !fixed {
		return err
	}
	for _, s := range statements {
		if _, err := r.conn.Prepare(r.ctx, s, s); err != nil { // which does nothing when it is prepared
			return err
		}
	}
	return nil
}

func (r reader) fixed() (bool, error) {
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
