package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/store/loopback"
)

// servers are the Redis and the Postgres on which all schemes run, one after the other.
type servers struct {
	testbed     *testbed
	redisURL    string
	redis       *loopback.Redis // nil: not started by this program
	newDatabase func(ctx context.Context) (string, error)
	connections int
	lent        []func() error
}

// startServers starts a private Redis and Postgres. It starts none of a kind for which the user has given a URL.
func startServers(ctx context.Context, s *testbed, redisURL, databaseURL string, connections int) (*servers, error) {
	all := &servers{testbed: s, redisURL: redisURL, connections: connections}
	if redisURL == "" {
		r, err := s.redis(ctx)
		if err != nil {
			return nil, err
		}
		all.redis, all.redisURL = r, r.URL()
	} else if err := all.takeRedis(ctx); err != nil {
		return nil, err
	}
	if databaseURL != "" {
		all.newDatabase = func(ctx context.Context) (string, error) { return s.databaseOn(ctx, databaseURL) }
		return all, nil
	}
	pg, err := s.postgres(ctx)
	if err != nil {
		return nil, err
	}
	all.newDatabase = pg.NewDatabase
	return all, nil
}

// takeRedis uses a Redis that the user has given. It must be empty, because it is flushed repeatedly. Cleanup empties
// it and restores its settings.
func (s *servers) takeRedis(ctx context.Context) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // only two requests were sent
	keys, err := c.DBSize(ctx).Result()
	if err == nil && keys > 0 {
		err = fmt.Errorf("it holds %d keys, and would be flushed: give an empty database, for example with /1 at the end of the URL", keys)
	}
	if err != nil {
		return fmt.Errorf("--redis-url: %w", err)
	}
	events, err := c.ConfigGet(ctx, "notify-keyspace-events").Result()
	if err != nil {
		return fmt.Errorf("--redis-url: %w", err)
	}
	s.testbed.addCleanup(func() error {
		c, err := s.client()
		if err != nil {
			return err
		}
		ctx := context.WithoutCancel(ctx)
		return errors.Join(c.FlushDB(ctx).Err(), c.ConfigSet(ctx, "notify-keyspace-events", events["notify-keyspace-events"]).Err(), c.Close())
	})
	return nil
}

// databaseOn creates a database on a server that the user has given, and drops it at cleanup.
func (s *testbed) databaseOn(ctx context.Context, server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return "", errors.New("--database-url: want postgres://user:password@host:port/database")
	}
	name := "hongbao_bench_" + strings.ToLower(rand.Text()[:12])
	do := func(ctx context.Context, statement string) error {
		c, err := pgx.Connect(ctx, server)
		if err != nil {
			return fmt.Errorf("--database-url: %w", err)
		}
		defer c.Close(ctx) //nolint:errcheck // the statements have been answered
		_, err = c.Exec(ctx, statement+pgx.Identifier{name}.Sanitize())
		return err
	}
	if err := do(ctx, "create database "); err != nil {
		return "", err
	}
	s.addCleanup(func() error { return do(context.WithoutCancel(ctx), "drop database if exists ") })
	u.Path = "/" + name
	return u.String(), nil
}

// fresh returns connections to a Redis that was just emptied and to a new database.
func (s *servers) fresh(ctx context.Context) (schemes.Engines, error) {
	database, err := s.newDatabase(ctx)
	if err != nil {
		return schemes.Engines{}, err
	}
	e, err := s.connect(ctx, database)
	if err == nil {
		err = errors.Join(e.Redis.FlushDB(ctx).Err(), e.DB.MakeTables(ctx))
	}
	return e, err
}

// twin returns connections to the same Redis and database, as another process of the scheme would have.
func (s *servers) twin(ctx context.Context, e schemes.Engines) (schemes.Engines, error) {
	return s.connect(ctx, e.DB.URL())
}

func (s *servers) connect(ctx context.Context, database string) (schemes.Engines, error) {
	c, err := s.client()
	if err != nil {
		return schemes.Engines{}, err
	}
	s.lent = append(s.lent, c.Close)
	db, err := schemes.Connect(ctx, database, s.connections)
	if err != nil {
		return schemes.Engines{}, err
	}
	s.lent = append(s.lent, db.Close)
	return schemes.Engines{Redis: c, RedisURL: s.redisURL, DB: db}, nil
}

func (s *servers) client() (*redis.Client, error) {
	o, err := redis.ParseURL(s.redisURL)
	if err != nil {
		return nil, fmt.Errorf("--redis-url: %w", err)
	}
	o.PoolSize = s.connections + 4 // for subscriptions and blocking calls
	return redis.NewClient(o), nil
}

// release closes all connections that fresh and twin have returned.
func (s *servers) release() (failed error) {
	for _, end := range s.lent {
		failed = errors.Join(failed, end())
	}
	s.lent = nil
	return failed
}
