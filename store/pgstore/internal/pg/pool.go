package pg

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

	"hongbao/store/tables"
)

// Pool lends connections. While Postgres is known to be out of reach, Acquire fails at once.
type Pool struct {
	all     *pgxpool.Pool
	config  *pgxpool.Config
	breaker *breaker
	serving atomic.Pointer[string] // identity of the servers that calls may use; nil: any

	identifiesByStart atomic.Bool // Postgres refuses the query readServer
}

// CloseTimeout bounds the orderly close of a connection.
const CloseTimeout = time.Second

var errClosed = errors.New("store is closed")

// NewPool returns a pool. It connects only when a connection is acquired.
func NewPool(config *pgxpool.Config, log *slog.Logger) (*Pool, error) {
	p := &Pool{config: config}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := PrepareConn(ctx, conn, log); err != nil {
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

// Acquire returns a connection that, as far as is known, works. The caller must release it; Release closes a
// connection that is still in a transaction. All errors wrap chat.ErrUnavailable, and then no statement of the caller has been
// sent.
func (p *Pool) Acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if err := p.breaker.err(); err != nil {
		return nil, err
	}
	conn, err := p.all.Acquire(ctx)
	if err != nil {
		p.noteFailedAcquire(ctx, err)
		return nil, tables.Unavailable("connect to HONGBAO_DATABASE_URL", err)
	}
	return conn, nil
}

// startPatience is how long a program that starts waits for a Postgres that mayAnswerLater.
var startPatience = 10 * time.Second

// AcquireFirst is Acquire for a program that starts. If Postgres may answer later, AcquireFirst waits
// until a probe succeeds, for at most startPatience, and tries once more. Any other failure, such as a wrong address or password,
// is returned at once.
func (p *Pool) AcquireFirst(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := p.Acquire(ctx)
	if !mayAnswerLater(err) || ctx.Err() != nil {
		return conn, err
	}
	waiting, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if p.breaker.await(waiting) != nil {
		return nil, err
	}
	return p.Acquire(ctx)
}

// mayAnswerLater reports whether a Postgres that did not let a program connect is busy or still starting.
func mayAnswerLater(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || SQLState(err) == "57P03"
}

// noteFailedAcquire tells the breaker that no connection could be acquired. It does not if the caller's context ended,
// if all connections were in use, or if Postgres has too many: none of these means that Postgres is out of reach. If one
// connection took too long, or Patience ended although not all connections were in use, it only starts a probe.
func (p *Pool) noteFailedAcquire(ctx context.Context, err error) {
	switch {
	case tooManyConnections(err):
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded): // one slow connection: the server may be busy with many new ones
		p.Suspect(err)
	case ctx.Err() == nil:
		p.breaker.trip(err)
	case errors.Is(context.Cause(ctx), ErrPatience) && p.all.Stat().AcquiredConns() < p.config.MaxConns:
		p.Suspect(err)
	}
}

// Suspect starts a probe of Postgres, unless one runs. If the probe fails, all connections are closed and the breaker opens.
func (p *Pool) Suspect(cause error) { p.breaker.suspect(cause, p.Drop) }

// SuspectIfSlow calls Suspect after suspectAfter, unless stop is called before.
func (p *Pool) SuspectIfSlow() (stop func() bool) {
	return time.AfterFunc(suspectAfter, func() { p.Suspect(errSlow) }).Stop
}

var errSlow = fmt.Errorf("a call has had no answer for %v", suspectAfter)

// tooManyConnections reports whether Postgres answered that it accepts no further connection.
func tooManyConnections(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "53300"
}

// Drop closes all connections of the pool; those in use are closed when they are released. It is called when all
// may be lost, or may lead to the wrong server.
func (p *Pool) Drop() { p.all.Reset() }

// probe checks that a new connection can be made, that calls may use the server and, unless the URL says otherwise, that the
// server takes writes. Its connection does not count against the size of the pool. At most two probes run at a time: one of
// Suspect and one of probeUntilBack. A Postgres that has too many connections is in reach, too.
func (p *Pool) probe(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, p.config.ConnConfig)
	if tooManyConnections(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer CloseConn(conn)
	if err := p.admitServer(ctx, conn); err != nil {
		return err
	}
	return conn.Ping(ctx)
}

// Close ends the probes, waits until all connections are released and closes them.
func (p *Pool) Close() {
	p.breaker.close()
	p.all.Close()
}

// Trip makes all calls fail until a probe succeeds. Call it when a connection was lost and then the new one, too.
func (p *Pool) Trip(cause error) { p.breaker.trip(cause) }

// Err returns the reason why calls must fail at once, or nil.
func (p *Pool) Err() error { return p.breaker.err() }

// Await blocks until calls pass. It returns an error if the context ends or the pool is closed before that.
func (p *Pool) Await(ctx context.Context) error { return p.breaker.await(ctx) }

// ConnConfig returns the settings of the connections.
func (p *Pool) ConnConfig() *pgx.ConnConfig { return p.config.ConnConfig }

// Stat returns the figures of the pool.
func (p *Pool) Stat() *pgxpool.Stat { return p.all.Stat() }
