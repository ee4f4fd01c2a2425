package pgstore

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pool lends connections, a bounded number of them, and fails at once while Postgres is known to be out of reach.
type pool struct {
	// static after newPool
	config  *pgx.ConnConfig
	slots   chan struct{} // one for each connection that is lent
	breaker *breaker
	closed  chan struct{} // by close

	mu   sync.Mutex
	idle []idleConn // the latest last
}

type idleConn struct {
	*pgx.Conn
	since time.Time
}

const (
	// A connection that lay idle for so long is tried before it is lent.
	doubtAfter = time.Second
	// One that nobody has wanted for so long is closed.
	idleLimit = 5 * time.Minute
	// closeTimeout is how long a connection may take to say goodbye.
	closeTimeout = time.Second
)

var errPoolClosed = errors.New("store is closed")

func newPool(config *pgx.ConnConfig, size int, log *slog.Logger) *pool {
	p := &pool{config: config, slots: make(chan struct{}, size), closed: make(chan struct{})}
	p.breaker = newBreaker(p.probe, log)
	return p
}

// lend gives a connection that works as far as one can know. It must be given back. All its errors are
// chat.ErrUnavailable: nothing has been asked of Postgres yet.
func (p *pool) lend(ctx context.Context) (*pgx.Conn, error) {
	if err := p.breaker.err(); err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	case <-p.closed: // then close itself takes the slots
		return nil, unavailable("wait for a connection", errPoolClosed)
	case <-ctx.Done():
		return nil, unavailable("wait for a connection", ctx.Err())
	}
	conn, err := p.take(ctx)
	if err != nil {
		<-p.slots
		return nil, unavailable("connect", err)
	}
	return conn, nil
}

// take gives an idle connection or makes one.
func (p *pool) take(ctx context.Context) (*pgx.Conn, error) {
	for {
		if p.isClosed() {
			return nil, errPoolClosed
		}
		p.mu.Lock()
		n := len(p.idle) - 1
		if n < 0 {
			p.mu.Unlock()
			return p.connect(ctx)
		}
		conn := p.idle[n]
		p.idle = p.idle[:n]
		p.mu.Unlock()
		if time.Since(conn.since) < doubtAfter || alive(ctx, conn.Conn) {
			return conn.Conn, nil
		}
		hangUp(conn.Conn)
	}
}

func (p *pool) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, p.config)
	if err == nil {
		return conn, nil
	}
	if !overcrowded(err) && !errors.Is(ctx.Err(), context.Canceled) {
		p.breaker.trip(err)
	}
	return nil, err
}

// overcrowded tells whether Postgres is there, but has no place for one more connection.
func overcrowded(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "53300"
}

// giveBack ends a loan. A connection that is broken, or still in a transaction, is closed.
func (p *pool) giveBack(conn *pgx.Conn) {
	defer func() { <-p.slots }()
	if conn.IsClosed() {
		return
	}
	if conn.PgConn().TxStatus() != 'I' {
		hangUp(conn)
		return
	}
	if spare := p.keep(conn); spare != nil {
		hangUp(spare)
	}
}

// keep makes the connection an idle one, and gives one that has become too many.
func (p *pool) keep(conn *pgx.Conn) (spare *pgx.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed() {
		return conn
	}
	p.idle = append(p.idle, idleConn{conn, time.Now()})
	if time.Since(p.idle[0].since) > idleLimit {
		spare = p.idle[0].Conn
		p.idle = append(p.idle[:0], p.idle[1:]...)
	}
	return spare
}

// doubt closes what is idle: where one connection was lost, the others may be too.
func (p *pool) doubt() {
	p.mu.Lock()
	doubtful := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, conn := range doubtful {
		hangUp(conn.Conn)
	}
}

// probe tells whether a new connection can be made and used. It takes no slot: it is the only one at its time.
func (p *pool) probe(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, p.config)
	if err != nil {
		return err
	}
	defer hangUp(conn)
	return conn.Ping(ctx)
}

// close waits until all is given back and closes it.
func (p *pool) close() {
	p.breaker.close()
	close(p.closed)
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	p.doubt()
}

func (p *pool) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

func alive(ctx context.Context, conn *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, doubtAfter)
	defer cancel()
	return conn.Ping(ctx) == nil
}

func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx) // it is given up anyway
}
