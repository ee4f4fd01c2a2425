package pgstore

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/redpacket"
)

// dialer connects to Postgres. It notices within patience that the server's host has vanished, even during a long
// wait such as an audit: after two seconds of silence it sends a keepalive once a second. On Linux, sent data that
// stays unacknowledged for that long also ends the connection.
var dialer = net.Dialer{
	KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: patience / 2, Interval: time.Second, Count: 2},
	Control:         limitUnacknowledged,
}

// keepalives makes Postgres notice within two seconds that the client's host has vanished: Postgres probes after a
// second of silence. A session that is sending has no idle timer, so it also sets tcp_user_timeout. With it, Linux
// ends a session if data stays unacknowledged, or the client does not read, for two seconds.
//
// The settings are made only if the connection always leads to the same Postgres process. PgBouncer would keep them
// on a session that it then lends to other clients, which may read slowly for good reasons.
const keepalives = `select set_config('tcp_keepalives_idle', '1', false), set_config('tcp_keepalives_interval', '1', false),
	set_config('tcp_keepalives_count', '1', false), set_config('tcp_user_timeout', '2000', false)
	where pg_backend_pid() = %d`

// prepareConn runs once on each new connection of the pool. A database without keepalive settings is used without
// them.
func prepareConn(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
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

// requireWritable refuses a connection to a read-only server, such as a standby after a failover.
func requireWritable(ctx context.Context, conn *pgconn.PgConn) error {
	if err := pgconn.ValidateConnectTargetSessionAttrsReadWrite(ctx, conn); err != nil {
		return fmt.Errorf("this server takes no writes (a standby, or default_transaction_read_only is on): %w", err)
	}
	return nil
}

// setsSessionAttrs reports whether the URL or the environment says which servers are acceptable
// (target_session_attrs). Both are searched, because pgx keeps nothing of the value "any".
func setsSessionAttrs(url string) bool {
	const name = "target_session_attrs"
	return strings.Contains(url, name) || os.Getenv("PG"+strings.ToUpper(strings.ReplaceAll(name, "_", ""))) != ""
}

// warnIfNotDurable logs a warning if this Postgres confirms commits that it may lose.
func (s *Store) warnIfNotDurable(ctx context.Context) {
	var commit, fsync string
	err := s.withReader(ctx, func(r reader) error {
		_, err := r.row(`select coalesce(current_setting('synchronous_commit', true), ''), coalesce(current_setting('fsync', true), '')`,
			nil, &commit, &fsync)
		return err
	})
	switch {
	case err != nil:
		s.log.Debug("durability settings not read", "err", err)
	case commit == "off":
		s.log.Warn("synchronous_commit is off: a crash of Postgres can lose confirmed commits",
			"fix", "alter database … set synchronous_commit = on, or the same for the role that connects")
	case fsync == "off":
		s.log.Warn("fsync is off: a power failure at Postgres loses or corrupts the database", "fix", "fsync = on in postgresql.conf")
	}
}
