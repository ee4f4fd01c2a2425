package pg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Patience is how long a transaction or a read is tried before it fails. So a caller learns within 5 s that Postgres is dead.
// If Postgres is not dead, the wait for other calls of the store comes on top. Audits, migrations, Fill and the methods of
// lineage.Store have limits of their own or none.
var Patience = 4 * time.Second

// ErrPatience is the cancellation cause of a context that ended because Patience was over.
var ErrPatience = errors.New("no answer in time")

var (
	// connectTimeout bounds the time to make a connection, unless the URL sets another bound.
	connectTimeout = 2 * time.Second
	// pingTimeout bounds the wait for the answer to a ping, which checks an idle connection before its reuse. The URL
	// may set another bound.
	pingTimeout = time.Second
)

// AllowSlowServers makes the limits above and startPatience n times as long. Tests call it before they open a store, so that their verdict
// does not depend on the speed of the machine.
func AllowSlowServers(n int) {
	for _, limit := range []*time.Duration{&Patience, &connectTimeout, &pingTimeout, &startPatience} {
		*limit *= time.Duration(n)
	}
}

// poolSize is the maximum number of connections, unless the URL sets another one (pool_max_conns).
const poolSize = 16

// ParseURL returns the settings of the connections and of the pool. Unless the URL says which servers are acceptable, only those that
// take writes are. Its error does not show the password of a well-formed
// URL. In a malformed one, pgx masks what it recognises as the password.
func ParseURL(url string) (*pgxpool.Config, error) {
	config, err := ParseReadURL(url)
	if err == nil && config.ConnConfig.ValidateConnect == nil && !setsSessionAttrs(url) {
		config.ConnConfig.ValidateConnect = requireWritable
	}
	return config, err
}

// ParseReadURL is ParseURL for a program that writes nothing: a standby will do.
func ParseReadURL(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("HONGBAO_DATABASE_URL: want postgres://user@host/database: %w", err)
	}
	if sized, err := pgx.ParseConfig(url); err == nil && sized.RuntimeParams["pool_max_conns"] == "" {
		config.MaxConns = poolSize
	}
	if config.MaxConns < minPoolSize {
		return nil, fmt.Errorf("HONGBAO_DATABASE_URL: pool_max_conns is %d, want at least %d", config.MaxConns, minPoolSize)
	}
	// Without the first, Postgres refuses the store's literals (literal.go); the second is the encoding of results. As startup parameters they
	// win over settings of the database and its roles. PgBouncer knows both, and sets them on each server connection that it lends.
	config.ConnConfig.RuntimeParams["standard_conforming_strings"] = "on"
	config.ConnConfig.RuntimeParams["client_encoding"] = "UTF8"
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	// The messages and batches of the store's writer are simple Queries without parameters (Inline). By default no prepared statement stays on the
	// server, because PgBouncer may change the server between transactions. Some are prepared where SameProcess is true.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.ConnConfig.DialFunc = dialer.DialContext
	return config, nil
}

// minPoolSize allows for one connection of each of the two committers that write, and one for reads. A single transaction
// may use one of them, too.
const minPoolSize = 3

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

// Dangers returns why connections of this configuration are not safe on a network: TLS is not required, or there is
// neither a password nor a client certificate. Connections within the host count as safe.
func Dangers(config *pgx.ConnConfig) (list []string) {
	plain, free := "", ""
	note := func(host string, encrypted, certified bool) {
		ip := net.ParseIP(host)
		if strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback() {
			return
		}
		if !encrypted {
			plain = host
		}
		if config.Password == "" && !certified {
			free = host
		}
	}
	certified := config.TLSConfig != nil && len(config.TLSConfig.Certificates) > 0
	note(config.Host, config.TLSConfig != nil, certified)
	for _, other := range config.Fallbacks {
		note(other.Host, other.TLSConfig != nil, certified)
	}
	if plain != "" {
		list = append(list, "the connection to "+plain+" may be without TLS: set sslmode=verify-full")
	}
	if free != "" {
		list = append(list, "there is no password for "+free)
	}
	return list
}

// dialer connects to Postgres. It notices within Patience that the server's host has vanished, even during a long
// wait such as an audit: after two seconds of silence it sends a keepalive once a second. On Linux, sent data that
// stays unacknowledged for as long as Patience also ends the connection.
var dialer = net.Dialer{
	KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: Patience / 2, Interval: time.Second, Count: 2},
	Control:         limitUnacknowledged,
}
