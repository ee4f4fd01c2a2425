package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Store is one database, shared with other instances.
type Store struct {
	pool    *pool
	entries *committer[*appending]
	claims  *committer[*settling]
	cuts    shareCache
	seeded  seeded
	sends   turns // of senders
	log     *slog.Logger

	closing sync.Once
}

const (
	// patience is how long a call tries: a dead Postgres is told to the caller within 5 s.
	patience = 4 * time.Second
	// connectTimeout is how long a connection may take to be made, unless the URL says otherwise.
	connectTimeout = 2 * time.Second
	// poolSize is how many connections there are at most, unless the URL says otherwise (pool_max_conns).
	poolSize = 16
)

// Open connects to the database, brings its schema up to date and starts the committers.
func Open(ctx context.Context, url string, log *slog.Logger) (*Store, error) {
	config, size, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	p := newPool(config, size, log)
	if err := migrate(ctx, p); err != nil {
		p.close()
		return nil, err
	}
	s := &Store{pool: p, log: log}
	s.entries = newCommitter(s.appendAll, log)
	s.claims = newCommitter(s.settleAll, log)
	return s, nil
}

// parseURL reads what is wanted of the connections and how many there may be. Its error never shows the
// password.
func parseURL(url string) (config *pgx.ConnConfig, size int, err error) {
	config, err = pgx.ParseConfig(url)
	if err != nil {
		return nil, 0, fmt.Errorf("database URL: %w", err)
	}
	size = poolSize
	if text, ok := config.RuntimeParams["pool_max_conns"]; ok {
		delete(config.RuntimeParams, "pool_max_conns")
		if size, err = strconv.Atoi(text); err != nil || size < minPoolSize {
			return nil, 0, fmt.Errorf("database URL: pool_max_conns is %q, want a number from %d", text, minPoolSize)
		}
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
	// Types are asked once a connection; no statement stays on the server, which PgBouncer may change under us.
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return config, size, nil
}

// minPoolSize lets both committers work, and someone read.
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
		s.pool.close()
	})
	return nil
}
