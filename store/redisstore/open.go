package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/store/lineage"
)

// Timeouts. patience bounds each call of the Pool with all its retries. The others bound one step of a call: connecting,
// one reply, one pause before a retry.
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

	log      *slog.Logger
	sentinel bool // Redis is behind sentinels
	pool     *Pool
	bus      *bus // nil until Bus was called
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
	s := &Store{name: t.String(), log: log, sentinel: t.kind == sentinel, grabs: t.grabsClient(), busClient: t.client(), rest: t.client()}
	s.checks = newNodeChecks(s.grabs, t.kind == cluster, s.name, log)
	life, end := context.WithCancel(context.Background())
	s.endChecks = end
	if err := s.checks.firstRound(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %s: %w", Setting, s.name, err), s.Close())
	}
	s.checking.Go(func() { s.checks.run(life) })
	s.pool = newPool(s.grabs, poolOptions{Checks: s.checks})
	s.presence, s.limiter = newPresence(s.rest, presenceOptions{Log: log}), newLimiter(s.rest)
	return s, nil
}

// Pool returns the Pool, which decides grabs.
func (s *Store) Pool() redpacket.Pool { return s.pool }

// Bus returns a bus between the instances that have the same key. Redis must not know the key. Call it once, and before Meters.
func (s *Store) Bus(key []byte) hub.Bus {
	s.bus = newBus(s.busClient, busOptions{log: s.log, key: key, sentinel: s.sentinel})
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

// Ready returns nil if Redis answers and has been found fit for grabs, in a cluster every master of it. Otherwise it
// returns an error that wraps chat.ErrUnavailable.
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

// String names the target for logs and errors, without secrets.
func (t target) String() string {
	hosts := strings.Join(t.addrs, ",")
	switch t.kind {
	case sentinel:
		return "Redis master " + t.master + " by the sentinels " + hosts
	case cluster:
		return "Redis Cluster at " + hosts
	default:
		return "Redis at " + hosts + "/" + strconv.Itoa(t.db)
	}
}

// pipelineBuffer is the size of each buffer of a connection for pipelines: a quarter of the driver's default. Longer
// pipelines take more writes.
const pipelineBuffer = 32 << 10

// client returns a new Redis client for the target. It has no connection yet.
func (t target) client() redis.UniversalClient { return redis.NewUniversalClient(t.options()) }

// grabsClient returns a new Redis client. While replies come fast, its connections poll for a reply instead of
// sleeping.
func (t target) grabsClient() redis.UniversalClient {
	return redis.NewUniversalClient(t.grabsOptions())
}

func (t target) grabsOptions() *redis.UniversalOptions {
	o := t.options()
	if !t.secure { // not with TLS, which a custom dialer would have to do itself
		o.Dialer = dialSpinning
	}
	return o
}

// options returns the driver's options. The driver's own retries are off, because only this package knows which commands
// may be repeated. A cluster's client still follows redirects and repeats commands (see onlyOnce).
func (t target) options() *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs: t.addrs, MasterName: t.master, IsClusterMode: t.kind == cluster, DB: t.db,
		Username: t.user, Password: t.password, SentinelUsername: t.sentinelUser, SentinelPassword: t.sentinelPassword,
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PipelineReadBufferSize:   pipelineBuffer, PipelineWriteBufferSize: pipelineBuffer,
		MaxRetries: -1, DialerRetries: 1, DialTimeout: dialTimeout,
		MinRetryBackoff: minBackoff, MaxRetryBackoff: maxBackoff, // for redirects in a cluster
		ReadTimeout: replyTimeout, WriteTimeout: replyTimeout, PoolTimeout: replyTimeout, ContextTimeoutEnabled: true,
	}
	if t.secure {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o
}

// driverLog receives the driver's log. Each failure in it is also returned as an error, so it is logged at debug level.
type driverLog struct{ log *slog.Logger }

// Printf implements the driver's logger.
func (d driverLog) Printf(ctx context.Context, format string, args ...any) {
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.DebugContext(ctx, "redis driver: "+fmt.Sprintf(format, args...))
	}
}
