package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// readServer reads what identifies the server, its timeline, the database and its tables. A standby that takes over
// begins another timeline. A restored backup has other databases, or at least other tables. All of this may be read by
// every role.
const readServer = `select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
	|| '/' || ` + readDatabase

// readServerByStart is for a Postgres that refuses the functions of readServer. It changes with each start of a server,
// which costs one comparison more.
const readServerByStart = `select 'started ' || pg_postmaster_start_time() || '/' || ` + readDatabase

const readDatabase = `(select oid from pg_database where datname = current_database()) || '/' || coalesce(to_regclass('entries')::oid, 0)`

// errOtherServer means that another server answers than the one that calls may use: see lineage.Store.Serve.
var errOtherServer = errors.New("another database server answers, and is compared with the newest commits that are known")

// readIdentity returns the identity of the server that answers on the connection.
func (p *pool) readIdentity(ctx context.Context, conn *pgx.Conn) (identity string, err error) {
	if !p.identifiesByStart.Load() {
		err = conn.QueryRow(ctx, readServer).Scan(&identity)
		c := sqlClass(sqlState(err))
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
func (p *pool) admitServer(ctx context.Context, conn *pgx.Conn) error {
	serving := p.serving.Load()
	if serving == nil {
		return nil
	}
	identity, err := p.readIdentity(ctx, conn)
	if err == nil && identity != *serving {
		err = errOtherServer
	}
	return err
}

// serve makes calls use servers of this identity only.
func (p *pool) serve(identity string) { p.serving.Store(&identity) }

// noteIdentity makes all calls fail, until the next call of serve, if they may not use a server of this identity.
func (p *pool) noteIdentity(identity string) {
	if serving := p.serving.Load(); serving != nil && *serving != identity {
		p.breaker.trip(errOtherServer)
		p.dropConns()
	}
}
