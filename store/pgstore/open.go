package pgstore

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/redpacket/meter"
	"hongbao/store/eventlog"
	"hongbao/store/lineage"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/epoch"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/schema"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// Store keeps its data in one Postgres database, which other instances may share. It is safe for concurrent use.
type Store struct {
	tables.Tables
	*epoch.Keeper // of the methods of lineage.Store

	pool      *pg.Pool
	entries   *batch.Committer[*appendJob]
	claims    *batch.Committer[*settleJob]
	ends      *batch.Committer[*endJob]
	standings *batch.Committer[*standingJob] // reads only
	cuts      tables.ShareCache
	seeded    seeded
	keys      *secret.Keys
	citus     bool // static: the tables are split
	events    eventlog.Kinds
	chains    chains
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

// Open connects to the database, applies the missing migrations and starts the committers.
func Open(ctx context.Context, url string, log *slog.Logger) (*Store, error) {
	return OpenWith(ctx, url, migrations.Auto, log)
}

// OpenWith is Open with another mode for the schema.
func OpenWith(ctx context.Context, url string, mode migrations.Mode, log *slog.Logger) (*Store, error) {
	config, err := pg.ParseURL(url)
	if err != nil {
		return nil, err
	}
	return openConfig(ctx, config, mode, log)
}

// openConfig is OpenWith for a parsed URL.
func openConfig(ctx context.Context, config *pgxpool.Config, mode migrations.Mode, log *slog.Logger) (*Store, error) {
	for _, danger := range pg.Dangers(config.ConnConfig) {
		log.Warn("HONGBAO_DATABASE_URL is not safe on a network", "danger", danger)
	}
	p, err := pg.NewPool(config, log)
	if err != nil {
		return nil, err
	}
	first, err := p.AcquireFirst(ctx) // waits for a Postgres that is starting
	if err != nil {
		p.Close()
		return nil, err
	}
	first.Release()
	if err := schema.Prepare(ctx, p, migrations.Postgres(), mode, log); err != nil {
		p.Close()
		return nil, err
	}
	s := &Store{pool: p, log: log, blocked: make(chan struct{}, maxBlocked), alone: meter.NewBatches()}
	s.Tables = tables.New(database{s: s})
	s.Keeper = epoch.New(p, s.Epoch)
	if err := s.withReader(ctx, func(r reader) (err error) {
		s.citus, err = schema.IsSplit(r)
		return err
	}); err != nil {
		p.Close()
		return nil, err
	}
	s.singles = make(chan struct{}, max(1, config.MaxConns-groupConns))
	s.warnIfNotDurable(ctx)
	slots := make(chan struct{}, max(1, config.MaxConns/4))
	s.entries = batch.New(s.appendWork(), slots, log)
	s.claims = batch.New(s.settleWork(), slots, log)
	s.ends = batch.New(s.endWork(), slots, log)
	s.standings = batch.New(batch.Work[*standingJob]{Span: "postgres standings", Run: s.standAll, Judge: judge, Patience: pg.Patience}, nil, log)
	return s, nil
}

// UseKeys makes the store encrypt seeds and passphrases before it stores them, and decrypt them. It must be called
// before any method of redpacket.Ledger.
func (s *Store) UseKeys(keys *secret.Keys) { s.keys = keys }

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
		s.ends.Close()
		s.claims.Close()
		s.standings.Close()
		s.giveBack()
		s.Keeper.Close()
		s.pool.Close()
	})
	return nil
}

// Clocks implements redpacket.Ledger.
func (s *Store) Clocks(ctx context.Context, now func() time.Time) ([]redpacket.ClockDifference, error) {
	all := make([]redpacket.ClockDifference, 1)
	err := s.withReader(ctx, func(r reader) (err error) {
		config := r.Conn.Config()
		all[0], err = redpacket.CompareClock(fmt.Sprintf("Postgres at %s:%d", config.Host, config.Port), now, func() (at time.Time, err error) {
			_, err = r.Row(`select clock_timestamp()`, nil, &at)
			return at, err
		})
		return err
	})
	if err != nil {
		return nil, tables.Outcome("read the clock", err)
	}
	return all, nil
}

// Meters returns what the store measures. It sends nothing to Postgres.
func (s *Store) Meters() meter.Engines {
	stat := s.pool.Stat()
	return meter.Engines{
		Work: []meter.Work{
			s.entries.Measured("postgres", "entries"), s.claims.Measured("postgres", "claims"),
			s.ends.Measured("postgres", "ends"), s.standings.Measured("postgres", "standings"),
			s.alone.Work("postgres", "single", len(s.singles)),
		},
		Connections: []meter.Connections{{
			Engine: "postgres", Use: "all", Open: int(stat.TotalConns()), Idle: int(stat.IdleConns()), Most: int(stat.MaxConns()),
			Waits: stat.EmptyAcquireCount(), Waited: stat.EmptyAcquireWaitTime(), Failed: stat.CanceledAcquireCount(),
		}},
	}
}
