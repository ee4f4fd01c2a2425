package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// readServer reads what identifies the server, its timeline, the database and its tables. A standby that takes over
// begins another timeline, and so does a recovery from archived WAL. A restored dump makes another database, or at least other
// tables. By default every role may read all of this.
const readServer = `select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
	|| '/' || ` + readDatabase

// readServerByStart is for a Postgres that refuses the functions of readServer. This identity changes with each start of a
// server, so each start costs one comparison with the newest commits.
const readServerByStart = `select 'started ' || pg_postmaster_start_time() || '/' || ` + readDatabase

const readDatabase = `(select oid from pg_database where datname = current_database()) || '/' || coalesce(to_regclass('entries')::oid, 0)`

// errOtherServer means that another server answers than the one that calls may use: see lineage.Store.Serve.
var errOtherServer = errors.New("another database server answers, and is compared with the newest commits that are known")

// ReadIdentity returns the identity of the server that answers on the connection.
func (p *Pool) ReadIdentity(ctx context.Context, conn *pgx.Conn) (identity string, err error) {
	if !p.identifiesByStart.Load() {
		err = conn.QueryRow(ctx, readServer).Scan(&identity)
		c := SQLClass(SQLState(err))
		p.identifiesByStart.Store(c == "42" || c == "0A") // refused or unknown
	}
	if p.identifiesByStart.Load() {
		err = conn.QueryRow(ctx, readServerByStart).Scan(&identity)
	}
	if err != nil {
		return "", fmt.Errorf("read the server's identity: %w", err)
	}
	return identity, nil
}

// admitServer fails with errOtherServer if calls may not use the server of a new connection.
func (p *Pool) admitServer(ctx context.Context, conn *pgx.Conn) error {
	serving := p.serving.Load()
	if serving == nil {
		return nil
	}
	identity, err := p.ReadIdentity(ctx, conn)
	if err == nil && identity != *serving {
		err = errOtherServer
	}
	return err
}

// Serve makes new connections fail unless the server has this identity. Open ones are not checked: see NoteIdentity.
func (p *Pool) Serve(identity string) { p.serving.Store(&identity) }

// NoteIdentity makes all calls fail if they may not use a server of this identity. They pass again after a probe has
// reached a server that they may use: of the old identity or, after Serve, of this one.
func (p *Pool) NoteIdentity(identity string) {
	if serving := p.serving.Load(); serving != nil && *serving != identity {
		p.breaker.trip(errOtherServer)
		p.Drop()
	}
}

// Serving reports whether Serve was called.
func (p *Pool) Serving() bool { return p.serving.Load() != nil }
