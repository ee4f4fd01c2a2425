package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
)

// How long things may take. A caller hears within patience, whatever Redis does.
const (
	patience     = 2 * time.Second
	replyTimeout = 1500 * time.Millisecond
	dialTimeout  = time.Second
	minBackoff   = 8 * time.Millisecond
	maxBackoff   = 200 * time.Millisecond
)

// Store is a Redis, in any of its three shapes.
type Store struct {
	// static after Open
	name string
	// Grabs, the bus, and what may be slow: each has connections of its own, so that none holds up another.
	grabs, lines, rest redis.UniversalClient

	pool     *Pool
	bus      *bus
	presence *presence
	limiter  *limiter
}

// Open connects to the Redis that the URL names, and refuses one that cannot do the work.
func Open(ctx context.Context, url string, log *slog.Logger) (*Store, error) {
	t, err := parse(url)
	if err != nil {
		return nil, err
	}
	redis.SetLogger(driverLog{log}) // it has but one, for all clients
	s := &Store{name: t.String(), grabs: t.grabsClient(), lines: t.client(), rest: t.client()}
	if err := probe(ctx, s.grabs, t.kind == cluster, log); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %s: %w", Setting, s.name, err), s.Close())
	}
	s.pool = newPool(s.grabs, poolOptions{})
	s.bus = newBus(s.lines, busOptions{log: log, sentinel: t.kind == sentinel})
	s.presence, s.limiter = newPresence(s.rest, presenceOptions{Log: log}), newLimiter(s.rest)
	return s, nil
}

// Pool is the arbiter of grabs.
func (s *Store) Pool() redpacket.Pool { return s.pool }

// Bus carries messages between instances.
func (s *Store) Bus() hub.Bus { return s.bus }

// Presence knows who has a socket on whatever instance.
func (s *Store) Presence() chat.Presence { return s.presence }

// Limiter keeps rates over all instances.
func (s *Store) Limiter() chat.Limiter { return s.limiter }

// Name says in one phrase which Redis it is, without secrets.
func (s *Store) Name() string { return s.name }

// Ready tells whether Redis can be reached: of a cluster, every master.
func (s *Store) Ready(ctx context.Context) error {
	err := eachMaster(ctx, s.grabs, func(ctx context.Context, node *redis.Client) error { return node.Ping(ctx).Err() })
	if err != nil {
		return unavailable("ping", err)
	}
	return nil
}

// Close closes all connections. Calls in flight fail.
func (s *Store) Close() error {
	return errors.Join(s.grabs.Close(), s.lines.Close(), s.rest.Close())
}

// eachMaster calls f for each node that takes writes.
func eachMaster(ctx context.Context, client redis.UniversalClient, f func(context.Context, *redis.Client) error) error {
	switch c := client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, f)
	case *redis.Client:
		return f(ctx, c)
	default:
		return fmt.Errorf("unexpected client %T", client)
	}
}
