package pg

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/store/secret"
	"hongbao/store/tables"
)

// Reader is a tables.Querier on one connection. Outside a transaction each statement sees the data committed so far; inside
// a snapshot all see the same data.
type Reader struct {
	Dialect

	Ctx      context.Context
	Conn     *pgx.Conn
	DataKeys *secret.Keys // nil: none
	Citus    bool         // the tables are split: see package schema
}

// Keys implements tables.Querier.
func (r Reader) Keys() *secret.Keys { return r.DataKeys }

// Each implements tables.Querier.
func (r Reader) Each(scan func(tables.Row) error, query string, args ...any) error {
	rs, err := r.Query(query, args...)
	if err != nil {
		return err
	}
	return Each(rs, scan)
}

// Query runs a query.
func (r Reader) Query(query string, args ...any) (pgx.Rows, error) {
	return r.Conn.Query(r.Ctx, r.Text(query), described(args)...)
}

// Text returns the statement as it is sent to this database: on Citus it is changed by OnCitus.
func (r Reader) Text(statement string) string {
	if r.Citus {
		return OnCitus(statement)
	}
	return statement
}

// Row implements tables.Querier.
func (r Reader) Row(query string, args []any, dest ...any) (found bool, err error) {
	return Scanned(r.Conn.QueryRow(r.Ctx, r.Text(query), described(args)...).Scan(dest...))
}

// described makes the driver send the parameters separately from the query. It asks Postgres for their types only
// once.
func described(args []any) []any {
	return append([]any{pgx.QueryExecModeCacheDescribe}, args...)
}

// Scanned interprets the error of a row's Scan: pgx.ErrNoRows becomes found = false without an error.
func Scanned(err error) (found bool, _ error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// SendBatch sends all statements in one round trip. The queued callbacks read the results in order.
func (r Reader) SendBatch(b *pgx.Batch) error {
	for _, q := range b.QueuedQueries {
		q.SQL = r.Text(q.SQL)
	}
	if err := InlineBatch(r.Conn, b); err != nil {
		return err
	}
	return r.Conn.SendBatch(r.Ctx, b).Close()
}

// Queued returns the statements of the batch as a batch of pgx.
func Queued(batch *tables.Batch) *pgx.Batch {
	b := &pgx.Batch{}
	for _, st := range batch.Statements {
		if queued := b.Queue(st.Text, st.Args...); st.Scan != nil {
			queued.Query(func(rs pgx.Rows) error { return Each(rs, st.Scan) })
		}
	}
	return b
}

// Collect reads the remaining rows of a result, returns one T for each, and closes the result.
func Collect[T any](rs pgx.Rows, scan func(tables.Row) (T, error)) (all []T, err error) {
	err = Each(rs, func(row tables.Row) error {
		one, err := scan(row)
		all = append(all, one)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Each calls scan with each remaining row of a result until scan fails, and closes the result.
func Each(rs pgx.Rows, scan func(tables.Row) error) error {
	defer rs.Close()
	for rs.Next() {
		if err := scan(rs); err != nil {
			return err
		}
	}
	return rs.Err()
}

// LongSnapshot is Snapshot without the timeouts that end the session of a slow client: fn may be slow between two rows.
func LongSnapshot(ctx context.Context, conn *pgx.Conn, citus bool, fn func(r Reader) error) error {
	return Snapshot(ctx, conn, citus, func(r Reader) error {
		if err := Simple(ctx, r.Conn, WaitForClient); err != nil {
			return err
		}
		return fn(r)
	})
}

// WaitForClient switches off, until the transaction ends, the timeouts that end the session of a slow client. It takes
// their names from pg_settings, because databases that are only compatible with Postgres lack some of them.
const WaitForClient = `select set_config(name, '0', true) from pg_settings
	where name in ('tcp_user_timeout', 'idle_in_transaction_session_timeout')`

// beginReading begins a transaction whose statements all see one snapshot.
const beginReading = "begin read only, isolation level repeatable read"

// Snapshot runs fn with one snapshot of the database.
func Snapshot(ctx context.Context, conn *pgx.Conn, citus bool, fn func(r Reader) error) error {
	if err := Simple(ctx, conn, beginReading); err != nil {
		return err
	}
	err := fn(Reader{Ctx: ctx, Conn: conn, Citus: citus})
	_ = Rollback(ctx, conn) // an error does not matter: nothing was written, and all is read
	return err
}

// Simple runs SQL without arguments as one simple Query. The SQL may contain several statements.
func Simple(ctx context.Context, conn *pgx.Conn, sql string) error {
	return conn.PgConn().Exec(ctx, sql).Close()
}

// Rollback ends a transaction without a commit. On a lost connection there is no transaction to end.
func Rollback(ctx context.Context, conn *pgx.Conn) error {
	if conn.IsClosed() {
		return nil
	}
	return Simple(ctx, conn, "rollback")
}

// Commit commits the transaction. It fails if Postgres rolled back instead, because a statement had failed and its error
// was ignored.
func Commit(ctx context.Context, conn *pgx.Conn) error {
	tag, err := conn.Exec(ctx, "commit", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return err
	}
	return Committed(tag)
}

// Committed returns nil if the answer to a commit is that of a commit.
func Committed(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return nil
}

// LockTimeout reports whether Postgres itself ended a statement because of lock_timeout. A database function that raises
// the same SQLSTATE does not count: waiting would not help.
func LockTimeout(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.Code == "55P03" && failed.Routine != "exec_stmt_raise"
}

// OnCitus returns the statement as it is sent to Citus.
func OnCitus(statement string) string {
	if !strings.Contains(statement, "/*") {
		return statement
	}
	for {
		before, rest, found := strings.Cut(statement, "/*one*/")
		if !found {
			return uncomment.Replace(statement)
		}
		_, after, _ := strings.Cut(rest, "/*end*/")
		statement = before + after
	}
}

var uncomment = strings.NewReplacer("/*!", "", "*/", "")
