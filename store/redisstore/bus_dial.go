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

// lineDials is how many connections a line has: one to publish, one that listens.
const lineDials = 2

var errSpent = errors.New("a line does not dial again: it is replaced")

// dial opens a new line to the master of the lane.
func (l *lane) dial(ctx context.Context) (*line, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*busTimeout)
	defer cancel()
	node, err := l.node(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the master: %w", err)
	}
	options := *node.Options()
	dialer := &lineDialer{dial: options.Dialer}
	options.Dialer = dialer.Dial
	options.Protocol = 2 // pushed messages are no concern of a RESP3 push processor
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
	return &line{lane: l, dialer: dialer, client: client, sub: sub, began: time.Now(), beatNow: make(chan struct{}, 1)}, nil
}

// node is the client of the lane's master, whose options say how to reach it.
func (l *lane) node(ctx context.Context) (*redis.Client, error) {
	switch c := l.bus.client.(type) {
	case *redis.ClusterClient:
		return c.MasterForKey(ctx, l.beat)
	case *redis.Client:
		return c, nil
	default:
		return nil, fmt.Errorf("unexpected client %T", c)
	}
}

// lineDialer dials for one line, and no more. The library would connect and subscribe again by itself, and tell nobody.
type lineDialer struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex // guards the following
	count int
	to    net.Addr // where the last connection led
}

// Dial is for redis.Options.
func (d *lineDialer) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	d.count++
	spent := d.count > lineDials
	d.mu.Unlock()
	if spent {
		return nil, errSpent
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

// astray tells whether a new connection would lead elsewhere: sentinels have named another master, although the old
// one still answers here.
func (d *lineDialer) astray(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	conn, err := d.dial(ctx, "tcp", "")
	if err != nil {
		return false // the master's heart tells
	}
	defer conn.Close() //nolint:errcheck // nothing was said
	d.mu.Lock()
	defer d.mu.Unlock()
	return conn.RemoteAddr().String() != d.to.String()
}
