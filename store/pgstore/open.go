package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hongbao/migrations"
	"hongbao/redpacket/meter"
	"hongbao/store/eventlog"
	"hongbao/store/lineage"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// Store keeps its data in one Postgres database, which other instances may share. It is safe for concurrent use.
type Store struct {
	tables.Tables

	pool      *pool
	entries   *batch.Committer[*appendJob]
	claims    *batch.Committer[*settleJob]
	standings *batch.Committer[*standingJob] // reads only
	cuts      tables.ShareCache
	seeded    seeded
	keys      *secret.Keys
	citus     bool // static: the tables are split
	events    eventlog.Kinds
	chains    chains
	own       ownConn        // for lineage.Store
	recent    lineage.Recent // newest commits
	onLoss    atomic.Pointer[func(reason string)]
	sendLocks keyLocks       // by sender
	roomLocks keyLocks       // by room; taken by Change and Amend
	singles   chan struct{}  // semaphore: bounds how many single transactions (those of tx) run at once
	alone     *meter.Batches // measures the single transactions
	blocked   chan struct{}  // semaphore: bounds how many single transactions run again at once after a lock timeout
	log       *slog.Logger

	closing sync.Once
}

const (
	// patience is how long a transaction or a read is tried before it fails. So a caller learns within 5 s that
	// Postgres is dead. If Postgres is not dead, the wait for other calls (keyLocks, committer) comes on top. Audits,
	// migrations, Fill and the methods of lineage.Store have limits of their own or none.
	patience = 4 * time.Second
	// connectTimeout bounds the time to make a connection, unless the URL sets another bound.
	connectTimeout = 2 * time.Second
	// pingTimeout bounds the wait for the answer to a ping, which checks an idle connection before its reuse. The URL
	// may set another bound.
	pingTimeout = time.Second
	// poolSize is the maximum number of connections, unless the URL sets another one (pool_max_conns).
	poolSize = 16
)

// Open connects to the database, applies the missing migrations and starts the committers.
func Open(ctx context.Context, url string, log *slog.Logger) (*Store, error) {
	return OpenWith(ctx, url, migrations.Auto, log)
}

// OpenWith is Open with another mode for the schema.
func OpenWith(ctx context.Context, url string, mode migrations.Mode, log *slog.Logger) (*Store, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	for _, danger := range dangers(config.ConnConfig) {
		log.Warn("HONGBAO_DATABASE_URL is not safe on a network", "danger", danger)
	}
	p, err := newPool(config, log)
	if err != nil {
		return nil, err
	}
	if err := prepareSchema(ctx, p, mode, log); err != nil {
		p.close()
		return nil, err
	}
	s := &Store{pool: p, log: log, blocked: make(chan struct{}, maxBlocked), alone: meter.NewBatches()}
	s.Tables = tables.New(database{s: s})
	if err := s.withReader(ctx, func(r reader) (err error) {
		s.citus, err = isSplit(r)
		return err
	}); err != nil {
		p.close()
		return nil, err
	}
	s.singles = make(chan struct{}, max(1, config.MaxConns-groupConns))
	s.warnIfNotDurable(ctx)
	slots := make(chan struct{}, max(1, config.MaxConns/4))
	s.entries = batch.New(s.appendWork(), slots, log)
	s.claims = batch.New(s.settleWork(), slots, log)
	s.standings = batch.New(batch.Work[*standingJob]{Span: "postgres standings", Run: s.standAll, Judge: judge}, nil, log)
	return s, nil
}

// parseURL returns the settings of the connections and of the pool. Its error does not show the password of a well-formed
// URL. In a malformed one, pgx masks what it recognises as the password.
func parseURL(url string) (*pgxpool.Config, error) {
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
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	// A writer's messages and batches are simple Queries (see writer). By default no prepared statement stays on the
	// server, because PgBouncer may change the server between transactions. prepareAll prepares some without PgBouncer.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.ConnConfig.DialFunc = dialer.DialContext
	if config.ConnConfig.ValidateConnect == nil && !setsSessionAttrs(url) {
		config.ConnConfig.ValidateConnect = requireWritable
	}
	return config, nil
}

// minPoolSize allows for one connection of each of the two committers that write, and one for reads. A single transaction
// may use one of them, too.
const minPoolSize = 3

// Ready returns nil if Postgres answers.
func (s *Store) Ready(ctx context.Context) error {
	return tables.Outcome("reach Postgres", s.withReader(ctx, func(r reader) error {
		_, err := r.Row(`select 1`, nil, new(int))
		return err
	}))
}

// Close answers the queued jobs, then closes the connections.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.entries.Close()
		s.claims.Close()
		s.standings.Close()
		s.giveBack()
		s.own.close()
		s.pool.close()
	})
	return nil
}
