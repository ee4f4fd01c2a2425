package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pool lends connections, and fails at once while Postgres is known to be out of reach.
type pool struct {
	all     *pgxpool.Pool
	config  *pgxpool.Config
	breaker *breaker
}

// closeTimeout is how long a connection may take to say goodbye.
const closeTimeout = time.Second

var errPoolClosed = errors.New("store is closed")

func newPool(config *pgxpool.Config, log *slog.Logger) (*pool, error) {
	all, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("connections: %w", err)
	}
	p := &pool{all: all, config: config}
	p.breaker = newBreaker(p.probe, log)
	return p, nil
}

// lend gives a connection that works as far as one can know. It must be released, which closes one that is still in a
// transaction. All its errors are chat.ErrUnavailable: nothing has been asked of Postgres yet.
func (p *pool) lend(ctx context.Context) (*pgxpool.Conn, error) {
	if err := p.breaker.err(); err != nil {
		return nil, err
	}
	conn, err := p.all.Acquire(ctx)
	if err != nil {
		if p.unanswered(ctx) && !overcrowded(err) {
			p.breaker.trip(err)
		}
		return nil, unavailable("connect", err)
	}
	return conn, nil
}

// unanswered tells whether a loan that failed says something about Postgres: it does not when it was the caller who
// could not wait, or when all connections are lent.
func (p *pool) unanswered(ctx context.Context) bool {
	if ctx.Err() == nil {
		return true
	}
	return errors.Is(context.Cause(ctx), errPatience) && p.all.Stat().AcquiredConns() < p.config.MaxConns
}

// overcrowded tells whether Postgres is there, but has no place for one more connection.
func overcrowded(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "53300"
}

// doubt has all connections closed: where one was lost, the others may be too.
func (p *pool) doubt() { p.all.Reset() }

// probe tells whether a new connection can be made and used. It is one more than the pool may have, but the only one.
func (p *pool) probe(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, p.config.ConnConfig)
	if err != nil {
		return err
	}
	defer hangUp(conn)
	return conn.Ping(ctx)
}

// close waits until all is released and closes it.
func (p *pool) close() {
	p.breaker.close()
	p.all.Close()
}

func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx) // it is given up anyway
}
