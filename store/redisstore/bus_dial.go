package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// linkDials is the number of connections of a link: one publishes, one listens.
const linkDials = 2

var errNoRedial = errors.New("a link does not redial: it is replaced")

// dial opens a new link to the shard's master.
func (s *shard) dial(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*busTimeout)
	defer cancel()
	node, err := s.node(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the master: %w", err)
	}
	options := *node.Options()
	dialer := &linkDialer{dial: options.Dialer}
	options.Dialer = dialer.Dial
	options.Protocol = 2 // with RESP3, the driver's push processor would take the messages
	options.PoolSize, options.MinIdleConns, options.PipelinePoolSize = 1, 0, -1
	options.MaxRetries, options.DialerRetries = -1, 1
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = busTimeout, busTimeout, busTimeout
	options.PoolTimeout = busTimeout
	options.ConnMaxIdleTime, options.ConnMaxLifetime = -1, 0
	options.ContextTimeoutEnabled = true
	client := redis.NewClient(&options)
	sub := client.Subscribe(ctx)
	err = sub.Ping(ctx)
	if err == nil {
		err = client.Ping(ctx).Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect: %w", err), sub.Close(), client.Close())
	}
	return &link{shard: s, dialer: dialer, client: client, sub: sub, began: time.Now(), heartbeatNow: make(chan struct{}, 1)}, nil
}

// node returns the client of the shard's master. The link is opened with that client's options.
func (s *shard) node(ctx context.Context) (*redis.Client, error) {
	switch c := s.bus.client.(type) {
	case *redis.ClusterClient:
		return c.MasterForKey(ctx, s.heartbeat)
	case *redis.Client:
		return c, nil
	default:
		return nil, fmt.Errorf("unexpected client %T", c)
	}
}

// linkDialer dials the two connections of one link, and refuses every further dial. Otherwise the Redis driver would
// reconnect and subscribe again by itself, and lost messages would go unnoticed.
type linkDialer struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex // guards the fields below
	count int
	to    net.Addr // server address of the last connection
}

// Dial implements the Dialer of redis.Options.
func (d *linkDialer) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	d.count++
	exhausted := d.count > linkDials
	d.mu.Unlock()
	if exhausted {
		return nil, errNoRedial
	}
	conn, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = conn.RemoteAddr()
	return conn, nil
}

// masterMoved opens a connection and reports whether it leads to another address than the link's. That happens when
// the sentinels have named a new master while the old one still answers.
func (d *linkDialer) masterMoved(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	conn, err := d.dial(ctx, "tcp", "")
	if err != nil {
		return false // a master that is gone is noticed in another way: no heartbeats come back through it
	}
	defer conn.Close() //nolint:errcheck // nothing was written
	d.mu.Lock()
	defer d.mu.Unlock()
	return conn.RemoteAddr().String() != d.to.String()
}
