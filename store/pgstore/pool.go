package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pool lends connections. While Postgres is known to be out of reach, it fails at once.
type pool struct {
	all     *pgxpool.Pool
	config  *pgxpool.Config
	breaker *breaker
	serving atomic.Pointer[string] // identity of the servers that calls may use; nil: any

	identifiesByStart atomic.Bool // Postgres refuses the query readServer
}

// closeTimeout bounds the orderly close of a connection.
const closeTimeout = time.Second

var errPoolClosed = errors.New("store is closed")

func newPool(config *pgxpool.Config, log *slog.Logger) (*pool, error) {
	p := &pool{config: config}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := prepareConn(ctx, conn, log); err != nil {
			return err
		}
		return p.admitServer(ctx, conn)
	}
	var err error
	if p.all, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, fmt.Errorf("create connection pool: %w", err)
	}
	p.breaker = newBreaker(p.probe, log)
	return p, nil
}

// acquire returns a connection that, as far as is known, works. The caller must release it; Release closes a
// connection that is still in a transaction. All errors are chat.ErrUnavailable, and then no statement has been sent.
func (p *pool) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if err := p.breaker.err(); err != nil {
		return nil, err
	}
	conn, err := p.all.Acquire(ctx)
	if err != nil {
		p.noteFailedAcquire(ctx, err)
		return nil, unavailable("connect", err)
	}
	return conn, nil
}

// noteFailedAcquire tells the breaker that no connection could be acquired. It does not if the caller's context ended
// or all connections were in use, because that says nothing about Postgres.
func (p *pool) noteFailedAcquire(ctx context.Context, err error) {
	switch {
	case tooManyConnections(err):
	case ctx.Err() == nil:
		p.breaker.trip(err)
	case errors.Is(context.Cause(ctx), errPatience) && p.all.Stat().AcquiredConns() < p.config.MaxConns:
		p.suspect(err)
	}
}

// suspect starts a probe of Postgres. If the probe fails, all connections are closed.
func (p *pool) suspect(cause error) { p.breaker.suspect(cause, p.dropConns) }

// suspectIfSlow calls suspect after suspectAfter, unless stop is called before.
func (p *pool) suspectIfSlow() (stop func() bool) {
	return time.AfterFunc(suspectAfter, func() { p.suspect(errSlow) }).Stop
}

var errSlow = fmt.Errorf("a call has had no answer for %v", suspectAfter)

// tooManyConnections reports whether Postgres answered that it accepts no further connection.
func tooManyConnections(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "53300"
}

// dropConns closes all connections of the pool. It is called when a probe has failed: then all may be lost.
func (p *pool) dropConns() { p.all.Reset() }

// probe checks that a new connection can be made, that the server takes writes, and that calls may use it. Its connection does not count
// against the size of the pool, and only one probe runs at a time. A Postgres that has too many connections is in
// reach, too.
func (p *pool) probe(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, p.config.ConnConfig)
	if tooManyConnections(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer closeConn(conn)
	if err := p.admitServer(ctx, conn); err != nil {
		return err
	}
	return conn.Ping(ctx)
}

// close waits until all connections are released and closes them.
func (p *pool) close() {
	p.breaker.close()
	p.all.Close()
}

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx) // an error does not matter, because the connection is not used again
}
