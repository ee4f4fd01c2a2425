package pg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/redpacket"
)

// firstPause is the time between two tries of ConnectFirst.
const firstPause = 200 * time.Millisecond

// ConnectFirst connects for a program that starts. While Postgres may answer later, it tries again,
// for about startPatience.
func ConnectFirst(ctx context.Context, config *pgx.ConnConfig) (conn *pgx.Conn, err error) {
	for began := time.Now(); ; {
		conn, err = pgx.ConnectConfig(ctx, config)
		if !mayAnswerLater(err) || ctx.Err() != nil || time.Since(began) > startPatience {
			return conn, err
		}
		select {
		case <-time.After(firstPause): // a Postgres that is starting answers at once
		case <-ctx.Done():
			return nil, err
		}
	}
}

// keepalives makes Postgres notice within two seconds that the client's host has vanished: Postgres probes after a
// second of silence. A session that is sending has no idle timer, so tcp_user_timeout is set, too. With it, Linux
// ends a session if data stays unacknowledged, or the client does not read, for two seconds.
//
// The settings are made only if the connection always leads to the same Postgres process. PgBouncer would keep them
// on a session that it then lends to other clients, which may read slowly for good reasons.
const keepalives = `select set_config('tcp_keepalives_idle', '1', false), set_config('tcp_keepalives_interval', '1', false),
	set_config('tcp_keepalives_count', '1', false), set_config('tcp_user_timeout', '2000', false)
	where pg_backend_pid() = %d`

// PrepareConn runs once on each new connection of the pool, of an Auditor and of Fill. A database without keepalive
// settings is used without them.
func PrepareConn(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	conn.TypeMap().RegisterDefaultPgType([]redpacket.Money{}, "_int8") // as a simple Query carries no types, the driver must know this one
	tag, err := conn.Exec(ctx, fmt.Sprintf(keepalives, conn.PgConn().PID()))
	switch {
	case err == nil:
		conn.PgConn().CustomData()[oneProcess] = tag.RowsAffected() == 1
	case conn.IsClosed():
		return err
	default:
		log.Debug("keepalives not set by Postgres", "err", err)
	}
	return nil
}

// oneProcess is the key of a connection's custom data. Its value tells whether the same Postgres process always
// answers.
const oneProcess = "one process"

// SameProcess reports whether the same Postgres process always answers on the connection. Behind PgBouncer it may be another one for
// each transaction.
func SameProcess(ctx context.Context, conn *pgx.Conn) (bool, error) {
	known := conn.PgConn().CustomData()
	if fixed, ok := known[oneProcess].(bool); ok {
		return fixed, nil
	}
	var process uint32
	err := conn.QueryRow(ctx, `select pg_backend_pid()`).Scan(&process)
	if err == nil {
		known[oneProcess] = process == conn.PgConn().PID()
	}
	return process == conn.PgConn().PID(), err
}

// CloseConn closes a connection in order, for at most CloseTimeout.
func CloseConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), CloseTimeout)
	defer cancel()
	_ = conn.Close(ctx) // an error does not matter, because the connection is not used again
}

// SQLState returns the SQLSTATE of an error of Postgres, or "".
func SQLState(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	return ""
}

// SQLClass returns the class of a SQLSTATE: its first two characters.
func SQLClass(code string) string { return code[:min(2, len(code))] }
