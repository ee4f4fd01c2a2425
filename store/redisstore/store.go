package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/redpacket/meter"
	"hongbao/store/finding"
	"hongbao/store/lineage"
	"hongbao/store/redisstore/internal/bus"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/pool"
	"hongbao/store/redisstore/internal/presence"
)

// Store gives access to one Redis installation: standalone, behind sentinels, or a cluster.
type Store struct {
	// immutable after Open
	name string
	// The Pool (grabs), the bus and everything else have separate connections, so that none delays another.
	grabs, busClient, rest redis.UniversalClient

	log      *slog.Logger
	sentinel bool // Redis is behind sentinels
	pool     *pool.Pool
	bus      *bus.Bus // nil until Bus was called
	presence *presence.Presence
	limiter  *limiter

	checks    *nodes.Checks
	endChecks context.CancelFunc
	checking  sync.WaitGroup
}

// Open connects to the Redis that the URL names. It fails if Redis answers and is unfit. If Redis cannot be reached,
// Open only logs a warning. Script calls of the Pool to a node then fail until a background task has reached the node and
// found it fit. The bus, presence and the limiter behave as in a later outage of Redis.
func Open(ctx context.Context, url string, log *slog.Logger) (*Store, error) {
	t, err := nodes.Parse(url)
	if err != nil {
		return nil, err
	}
	nodes.SetLog(log)
	s := &Store{name: t.String(), log: log, sentinel: t.Sentinel(), grabs: t.Client(), busClient: t.Client(), rest: t.Client()}
	s.checks = nodes.NewChecks(s.grabs, s.name, log)
	life, end := context.WithCancel(context.Background())
	s.endChecks = end
	if err := s.checks.FirstRound(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %s: %w", nodes.Setting, s.name, err), s.Close())
	}
	s.checking.Go(func() { s.checks.Run(life) })
	s.pool = pool.New(nodes.Set{Client: s.grabs, Checks: s.checks}, pool.Options{})
	s.presence, s.limiter = presence.New(s.rest, presence.Options{Log: log}), newLimiter(s.rest)
	return s, nil
}

// Pool returns the Pool, which decides grabs.
func (s *Store) Pool() redpacket.Pool { return s.pool }

// Bus returns a bus between the instances that have the same key. The key must not be stored in Redis. Call Bus once, and
// before Meters.
func (s *Store) Bus(key []byte) hub.Bus {
	s.bus = bus.New(s.busClient, bus.Options{Log: s.log, Key: key, Sentinel: s.sentinel})
	return s.bus
}

// Presence returns the presence of users on all instances.
func (s *Store) Presence() chat.Presence { return s.presence }

// Limiter returns the rate limits over all instances.
func (s *Store) Limiter() chat.Limiter { return s.limiter }

// Notes returns the notes that all instances keep of newest commits.
func (s *Store) Notes() lineage.Notes { return notes{s.rest} }

// Name names the Redis in one phrase, without secrets.
func (s *Store) Name() string { return s.name }

// Ready returns nil if Redis answers, has been found fit for grabs, and runs what a grab runs. In a cluster this must be true of every master.
// Otherwise Ready returns an error that wraps chat.ErrUnavailable.
func (s *Store) Ready(ctx context.Context) error {
	err := s.checks.Ready(ctx)
	if err == nil {
		err = s.pool.Ready(ctx)
	}
	if err != nil {
		return nodes.Unavailable(s.name+" cannot be used; chat works, grabs answer unavailable", err)
	}
	return nil
}

// Close ends the checks and closes all connections. Calls in flight fail.
func (s *Store) Close() error {
	s.endChecks()
	s.checking.Wait()
	return errors.Join(s.grabs.Close(), s.busClient.Close(), s.rest.Close())
}

// Examine checks the Redis of the URL for hongbao doctor. It writes one key that expires after a second, and publishes on a
// channel to which no instance listens.
func Examine(ctx context.Context, url string) []finding.Finding { return nodes.Examine(ctx, url) }

// Meters returns what the store measures. It calls no Redis.
func (s *Store) Meters() meter.Engines {
	m := meter.Engines{
		Work: []meter.Work{s.pool.Meters()},
		Connections: []meter.Connections{
			connections("grabs", s.grabs.PoolStats()), connections("bus", s.busClient.PoolStats()), connections("rest", s.rest.PoolStats()),
		},
	}
	if s.bus != nil {
		m.Bus = s.bus.Meters()
	}
	return m
}

// connections adds up the driver's two connection pools: one for single commands, one for pipelines.
func connections(use string, s *redis.PoolStats) meter.Connections {
	c := meter.Connections{
		Engine: "redis", Use: use, Open: int(s.TotalConns), Idle: int(s.IdleConns),
		Waits: int64(s.WaitCount), Waited: time.Duration(s.WaitDurationNs), Failed: int64(s.Timeouts),
	}
	if p := s.PipelineStats; p != nil {
		c.Open, c.Idle = c.Open+int(p.TotalConns), c.Idle+int(p.IdleConns)
		c.Waits, c.Waited, c.Failed = c.Waits+int64(p.WaitCount), c.Waited+time.Duration(p.WaitDurationNs), c.Failed+int64(p.Timeouts)
	}
	return c
}
