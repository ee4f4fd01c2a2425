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
	"hongbao/store/lineage"
)

// Timeouts. Every call returns within patience, whatever Redis does.
const (
	patience     = 2 * time.Second
	replyTimeout = 1500 * time.Millisecond
	dialTimeout  = time.Second
	minBackoff   = 8 * time.Millisecond
	maxBackoff   = 200 * time.Millisecond
)

// Store gives access to one Redis installation: standalone, behind sentinels, or a cluster.
type Store struct {
	// immutable after Open
	name string
	// Grabs, the bus and everything else have separate connections, so that none delays another.
	grabs, busClient, rest redis.UniversalClient

	pool     *Pool
	bus      *bus
	presence *presence
	limiter  *limiter

	checks    *nodeChecks
	endChecks context.CancelFunc
	checking  sync.WaitGroup
}

// Open connects to the Redis that the URL names. It fails if Redis answers and is unfit. If Redis cannot be reached,
// Open only logs a warning. The Pool then refuses every call until a background task has reached the node and found
// it fit. The bus, presence and the limiter behave as in a later outage of Redis.
func Open(ctx context.Context, url string, log *slog.Logger) (*Store, error) {
	t, err := parse(url)
	if err != nil {
		return nil, err
	}
	redis.SetLogger(driverLog{log}) // the driver has one logger for all clients
	s := &Store{name: t.String(), grabs: t.grabsClient(), busClient: t.client(), rest: t.client()}
	s.checks = newNodeChecks(s.grabs, t.kind == cluster, s.name, log)
	life, end := context.WithCancel(context.Background())
	s.endChecks = end
	if err := s.checks.firstRound(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %s: %w", Setting, s.name, err), s.Close())
	}
	s.checking.Go(func() { s.checks.run(life) })
	s.pool = newPool(s.grabs, poolOptions{Checks: s.checks})
	s.bus = newBus(s.busClient, busOptions{log: log, sentinel: t.kind == sentinel})
	s.presence, s.limiter = newPresence(s.rest, presenceOptions{Log: log}), newLimiter(s.rest)
	return s, nil
}

// Pool returns the arbiter of grabs.
func (s *Store) Pool() redpacket.Pool { return s.pool }

// Bus returns the bus between instances.
func (s *Store) Bus() hub.Bus { return s.bus }

// Presence returns the presence of users on all instances.
func (s *Store) Presence() chat.Presence { return s.presence }

// Limiter returns the rate limits over all instances.
func (s *Store) Limiter() chat.Limiter { return s.limiter }

// Notes returns the notes of all instances.
func (s *Store) Notes() lineage.Notes { return notes{s.rest} }

// Name names the Redis in one phrase, without secrets.
func (s *Store) Name() string { return s.name }

// Ready returns nil if Redis can be reached and is used. In a cluster this holds for every master.
func (s *Store) Ready(ctx context.Context) error {
	err := s.checks.err()
	if err == nil {
		err = eachMaster(ctx, s.grabs, func(ctx context.Context, node *redis.Client) error {
			if err := s.checks.node(node).refused(); err != nil {
				return err
			}
			return node.Ping(ctx).Err()
		})
	}
	if err != nil {
		return unavailable(s.name+" cannot be used; chat works, grabs answer unavailable", err)
	}
	return nil
}

// Close ends the checks and closes all connections. Calls in flight fail.
func (s *Store) Close() error {
	s.endChecks()
	s.checking.Wait()
	return errors.Join(s.grabs.Close(), s.busClient.Close(), s.rest.Close())
}

// eachMaster calls f for each master, in a cluster for all at once. It returns all errors.
func eachMaster(ctx context.Context, client redis.UniversalClient, f func(context.Context, *redis.Client) error) error {
	switch c := client.(type) {
	case *redis.ClusterClient:
		var mu sync.Mutex
		var failed []error
		err := c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			if err := f(ctx, node); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, fmt.Errorf("node %s: %w", node.Options().Addr, err))
			}
			return nil
		})
		return errors.Join(append(failed, err)...)
	case *redis.Client:
		return f(ctx, c)
	default:
		return fmt.Errorf("unexpected client %T", client)
	}
}
