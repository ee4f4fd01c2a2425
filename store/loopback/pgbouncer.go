package loopback

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
)

// PgBouncer is a server that shares the sessions of one Postgres between clients (transaction pooling). Two
// statements outside a transaction may reach different sessions. Before version 1.21 it does not support prepared
// statements.
type PgBouncer struct{ *daemon }

// StartPgBouncer starts a PgBouncer in the folder, in front of a Postgres. Its sessions are those of the role, whatever name a client gives.
// While the PgBouncer runs, the Postgres may be restarted.
func StartPgBouncer(ctx context.Context, dir string, before *Postgres, role string) (*PgBouncer, error) {
	bouncer, err := program("pgbouncer")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	if err := as.own(dir); err != nil {
		return nil, err
	}
	// The file is readable by all: it contains no secret, because the server trusts every client.
	conf := filepath.Join(dir, "pgbouncer.ini")
	b := &PgBouncer{&daemon{name: "pgbouncer", dir: dir, as: as, stopSignal: syscall.SIGTERM, ready: accepts}}
	b.prepare = func(port int) error {
		return os.WriteFile(conf, []byte(bouncerConf(port, before.port.number, role)), 0o644) //nolint:gosec // read as another user
	}
	b.command = func(int) []string { return []string{bouncer, conf} }
	if err := b.launch(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// bouncerConf returns the settings that differ from the defaults. With them PgBouncer ignores extra_float_digits, which some
// clients send when they connect. It tries a server that is down again after 1 s instead of 15 s, so that tests need not wait.
func bouncerConf(port, server int, role string) string {
	return fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 2000
default_pool_size = 20
ignore_startup_parameters = extra_float_digits
server_login_retry = 1
`, server, role, port)
}

// URL returns the URL of a database through PgBouncer. database is its name, or its URL at the Postgres server.
func (b *PgBouncer) URL(database string) string {
	if u, err := url.Parse(database); err == nil && u.Scheme != "" {
		u.Host = b.Addr()
		return u.String()
	}
	return databaseURL(b.Addr(), database)
}
