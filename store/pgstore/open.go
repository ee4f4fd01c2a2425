package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is one database, shared with other instances.
type Store struct {
	pool      *pool
	entries   *committer[*appending]
	claims    *committer[*settling]
	standings *committer[*asking] // which only reads
	cuts      shareCache
	seeded    seeded
	sends     turns // of senders
	rooms     turns // of rooms that are changed, or in which something is amended
	log       *slog.Logger

	closing sync.Once
}

const (
	// patience is how long a call tries: a dead Postgres is told to the caller within 5 s.
	patience = 4 * time.Second
	// connectTimeout is how long a connection may take to be made, unless the URL says otherwise.
	connectTimeout = 2 * time.Second
	// pingTimeout is how long one that lay idle may take to answer before it is lent, unless the URL says otherwise.
	pingTimeout = time.Second
	// poolSize is how many connections there are at most, unless the URL says otherwise (pool_max_conns).
	poolSize = 16
)

// Open connects to the database, brings its schema up to date and starts the committers.
func Open(ctx context.Context, url string, log *slog.Logger) (*Store, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	p, err := newPool(config, log)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, p); err != nil {
		p.close()
		return nil, err
	}
	s := &Store{pool: p, log: log}
	s.entries = newCommitter(s.appendAll, log)
	s.claims = newCommitter(s.settleAll, log)
	s.standings = newCommitter(s.standAll, log)
	return s, nil
}

// parseURL reads what is wanted of the connections and how many there may be. Its error never shows the
// password.
func parseURL(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	if sized, err := pgx.ParseConfig(url); err == nil && sized.RuntimeParams["pool_max_conns"] == "" {
		config.MaxConns = poolSize
	}
	if config.MaxConns < minPoolSize {
		return nil, fmt.Errorf("database URL: pool_max_conns is %d, want at least %d", config.MaxConns, minPoolSize)
	}
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	// Types are asked once a connection; no statement stays on the server, which PgBouncer may change under us.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return config, nil
}

// minPoolSize lets two committers work, and someone read.
const minPoolSize = 3

// Ready tells whether Postgres answers.
func (s *Store) Ready(ctx context.Context) error {
	return outcome("reach Postgres", s.look(ctx, func(r reader) error {
		_, err := r.row(`select 1`, nil, new(int))
		return err
	}))
}

// Close answers what is queued, then closes the connections.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.entries.close()
		s.claims.close()
		s.standings.close()
		s.pool.close()
	})
	return nil
}
