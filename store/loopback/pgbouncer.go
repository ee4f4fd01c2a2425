package loopback

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
)

// PgBouncer stands before one Postgres and pools transactions: two statements outside of one may reach different
// sessions. Before version 1.21 it knows nothing of prepared statements.
type PgBouncer struct{ *daemon }

// StartPgBouncer starts one in the folder, before the server, which may be restarted meanwhile.
func StartPgBouncer(ctx context.Context, dir string, before *Postgres) (*PgBouncer, error) {
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
	// The file is public; what is secret about a server that trusts everybody?
	conf := filepath.Join(dir, "pgbouncer.ini")
	b := &PgBouncer{&daemon{name: "pgbouncer", dir: dir, as: as, ask: syscall.SIGTERM, ready: accepts}}
	b.prepare = func(port int) error { return os.WriteFile(conf, []byte(bouncerConf(port, before.port.number)), 0o644) } //nolint:gosec // read as another user
	b.command = func(int) []string { return []string{bouncer, conf} }
	if err := b.launch(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// bouncerConf is what differs from its defaults. extra_float_digits is sent by some clients when they connect.
func bouncerConf(port, server int) string {
	return fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 2000
default_pool_size = 20
ignore_startup_parameters = extra_float_digits
`, server, port)
}

// URL leads through it to a database, which is given by its name or by its URL at the server.
func (b *PgBouncer) URL(database string) string {
	if u, err := url.Parse(database); err == nil && u.Scheme != "" {
		u.Host = b.Addr()
		return u.String()
	}
	return databaseURL(b.Addr(), database)
}
