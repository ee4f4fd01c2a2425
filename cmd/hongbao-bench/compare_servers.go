package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/store/loopback"
)

// servers are the Redis and the Postgres on which all schemes run, one after the other.
type servers struct {
	redis       *loopback.Redis
	postgres    *loopback.Postgres
	connections int // to Postgres
	callers     int // that use one client of Redis at the same time, as the subcommand engines sets it; 0 in compare
	lent        []func() error
}

// startServers starts a private Redis and Postgres.
func startServers(ctx context.Context, s *testbed, connections int) (*servers, error) {
	r, err := s.redis(ctx)
	if err != nil {
		return nil, err
	}
	pg, err := s.postgres(ctx)
	return &servers{redis: r, postgres: pg, connections: connections}, err
}

// cpuTime returns the CPU time that this process, Redis and Postgres have used so far; 0 if the system does not tell. Redis is
// counted as a child of this process.
func (s *servers) cpuTime() time.Duration { return cpuTime(os.Getpid(), s.postgres.PID()) }

// fresh returns connections to a Redis that was just emptied, and to a new database with the empty tables of the schemes.
func (s *servers) fresh(ctx context.Context) (schemes.Engines, error) {
	database, err := s.postgres.NewDatabase(ctx)
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
	return schemes.Engines{Redis: c, RedisURL: s.redis.URL(), DB: db}, nil
}

func (s *servers) client() (*redis.Client, error) {
	o, err := redis.ParseURL(s.redis.URL())
	if err != nil {
		return nil, err
	}
	o.PoolSize = max(s.connections, s.callers) + 4 // for subscriptions and blocking calls
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
