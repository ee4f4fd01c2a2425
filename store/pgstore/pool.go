package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/tables"
)

// pool lends connections. While Postgres is known to be out of reach, acquire fails at once.
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
// connection that is still in a transaction. All errors wrap chat.ErrUnavailable, and then no statement of the caller has been
// sent.
func (p *pool) acquire(ctx context.Context) (*pgxpool.Conn, error) {
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
const startPatience = 10 * time.Second

// acquireFirst is acquire for a program that starts. If Postgres may answer later, acquireFirst waits
// until a probe succeeds, for at most startPatience, and tries once more. Any other failure, such as a wrong address or password,
// is returned at once.
func (p *pool) acquireFirst(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := p.acquire(ctx)
	if !mayAnswerLater(err) || ctx.Err() != nil {
		return conn, err
	}
	waiting, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if p.breaker.await(waiting) != nil {
		return nil, err
	}
	return p.acquire(ctx)
}

// mayAnswerLater reports whether a Postgres that did not let a program connect is busy or still starting.
func mayAnswerLater(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || sqlState(err) == "57P03"
}

// noteFailedAcquire tells the breaker that no connection could be acquired. It does not if the caller's context ended,
// if all connections were in use, or if Postgres has too many: none of these means that Postgres is out of reach. If
// patience ended although not all connections were in use, it only starts a probe.
func (p *pool) noteFailedAcquire(ctx context.Context, err error) {
	switch {
	case tooManyConnections(err):
	case ctx.Err() == nil:
		p.breaker.trip(err)
	case errors.Is(context.Cause(ctx), errPatience) && p.all.Stat().AcquiredConns() < p.config.MaxConns:
		p.suspect(err)
	}
}

// suspect starts a probe of Postgres, unless one runs. If the probe fails, all connections are closed and the breaker opens.
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

// dropConns closes all connections of the pool; those in use are closed when they are released. It is called when all
// may be lost, or may lead to the wrong server.
func (p *pool) dropConns() { p.all.Reset() }

// probe checks that a new connection can be made, that calls may use the server and, unless the URL says otherwise, that the
// server takes writes. Its connection does not count against the size of the pool. At most two probes run at a time: one of
// suspect and one of probeUntilBack. A Postgres that has too many connections is in reach, too.
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

// close ends the probes, waits until all connections are released and closes them.
func (p *pool) close() {
	p.breaker.close()
	p.all.Close()
}

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx) // an error does not matter, because the connection is not used again
}

// breaker makes calls fail at once while Postgres is known to be out of reach. After the first failure, calls do not try to
// connect, except those of lineage.Store. Instead probeUntilBack tries about once a second. A call without an answer in time
// is no such failure, because it may be one slow statement: it only starts a probe, which decides.
type breaker struct {
	// static after newBreaker
	probe  func(ctx context.Context) error
	log    *slog.Logger
	ctx    context.Context // ends with close
	cancel context.CancelFunc

	probing sync.WaitGroup

	mu        sync.Mutex
	cause     error         // nil: calls pass
	recovered chan struct{} // closed when calls pass again
	suspected bool          // a probe is deciding whether calls may pass
}

const (
	// probeEvery is the time between two probes, plus or minus a quarter.
	probeEvery = time.Second
	// suspectAfter is how long a call waits for an answer before a probe is started. The probe fails after
	// connectTimeout. So if Postgres is gone, later calls already fail at once before patience ends for this call.
	suspectAfter = 1500 * time.Millisecond
)

func newBreaker(probe func(ctx context.Context) error, log *slog.Logger) *breaker {
	b := &breaker{probe: probe, log: log}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// err returns the reason why calls must fail at once, or nil.
func (b *breaker) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause == nil {
		return nil
	}
	return fmt.Errorf("%w: Postgres is out of reach: %w", chat.ErrUnavailable, b.cause)
}

// trip makes all calls fail until a probe succeeds. The first probe starts at once, because the failure may have hit
// only one call.
func (b *breaker) trip(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause != nil || b.ctx.Err() != nil {
		return
	}
	b.cause, b.recovered = cause, make(chan struct{})
	b.probing.Go(b.probeUntilBack)
	b.log.Warn("Postgres is out of reach", "err", cause)
}

// suspect starts one probe, while calls still pass. If the probe fails, suspect calls failed and then trips the
// breaker.
func (b *breaker) suspect(cause error, failed func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause != nil || b.suspected || b.ctx.Err() != nil {
		return
	}
	b.suspected = true
	b.probing.Go(func() {
		err := b.tryOnce()
		b.mu.Lock()
		b.suspected = false
		b.mu.Unlock()
		if err != nil {
			failed()
			b.trip(fmt.Errorf("%w; a probe failed: %w", cause, err))
		}
	})
}

// probeUntilBack probes until a probe succeeds, and then lets calls pass again. It also ends with close.
func (b *breaker) probeUntilBack() {
	began := time.Now()
	for b.tryOnce() != nil {
		select {
		case <-time.After(probeEvery*3/4 + rand.N(probeEvery/2)):
		case <-b.ctx.Done():
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cause = nil
	close(b.recovered)
	b.log.Info("Postgres is back", "after", time.Since(began))
}

func (b *breaker) tryOnce() error {
	ctx, cancel := context.WithTimeout(b.ctx, connectTimeout)
	defer cancel()
	return b.probe(ctx)
}

// await blocks until calls pass. It returns an error if the context ends or the breaker is closed before that.
func (b *breaker) await(ctx context.Context) error {
	b.mu.Lock()
	cause, recovered := b.cause, b.recovered
	b.mu.Unlock()
	if cause == nil {
		return ctx.Err()
	}
	select {
	case <-recovered:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.ctx.Done():
		return errPoolClosed
	}
}

// close ends the probes and waits for them.
func (b *breaker) close() {
	b.mu.Lock()
	b.cancel() // under the lock, so that no trip follows
	b.mu.Unlock()
	b.probing.Wait()
}

// dialer connects to Postgres. It notices within patience that the server's host has vanished, even during a long
// wait such as an audit: after two seconds of silence it sends a keepalive once a second. On Linux, sent data that
// stays unacknowledged for as long as patience also ends the connection.
var dialer = net.Dialer{
	KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: patience / 2, Interval: time.Second, Count: 2},
	Control:         limitUnacknowledged,
}

// keepalives makes Postgres notice within two seconds that the client's host has vanished: Postgres probes after a
// second of silence. A session that is sending has no idle timer, so tcp_user_timeout is set, too. With it, Linux
// ends a session if data stays unacknowledged, or the client does not read, for two seconds.
//
// The settings are made only if the connection always leads to the same Postgres process. PgBouncer would keep them
// on a session that it then lends to other clients, which may read slowly for good reasons.
const keepalives = `select set_config('tcp_keepalives_idle', '1', false), set_config('tcp_keepalives_interval', '1', false),
	set_config('tcp_keepalives_count', '1', false), set_config('tcp_user_timeout', '2000', false)
	where pg_backend_pid() = %d`

// prepareConn runs once on each new connection of the pool, of an Auditor and of Fill. A database without keepalive
// settings is used without them.
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

// dangers returns why connections of this configuration are not safe on a network: TLS is not required, or there is
// neither a password nor a client certificate. Connections within the host count as safe.
func dangers(config *pgx.ConnConfig) (list []string) {
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

// serve makes new connections fail unless the server has this identity. Open ones are not checked: see noteIdentity.
func (p *pool) serve(identity string) { p.serving.Store(&identity) }

// noteIdentity makes all calls fail if they may not use a server of this identity. They pass again after a probe has
// reached a server that they may use: of the old identity or, after serve, of this one.
func (p *pool) noteIdentity(identity string) {
	if serving := p.serving.Load(); serving != nil && *serving != identity {
		p.breaker.trip(errOtherServer)
		p.dropConns()
	}
}
