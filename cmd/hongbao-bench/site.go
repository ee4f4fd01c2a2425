package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/store/loopback"
	"hongbao/store/pgstore"
	"hongbao/store/redisstore"
)

// site is where matches are played: servers of its own, and what is connected to them. All of it goes when the
// section is over, in the opposite order.
type site struct {
	log     *slog.Logger
	cleanup []func() error
}

// onSite plays on a new site, and clears it away.
func onSite[T any](play func(s *site) (T, error)) (result T, err error) {
	s := &site{log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	defer func() {
		for _, clean := range slices.Backward(s.cleanup) {
			err = errors.Join(err, clean())
		}
	}()
	return play(s)
}

// later has something cleared away with the site.
func (s *site) later(clean func() error) { s.cleanup = append(s.cleanup, clean) }

// stopper is any server.
type stopper interface{ Stop() }

// start starts a server in a folder of its own.
func start[S stopper](s *site, run func(dir string) (S, error)) (server S, err error) {
	dir, err := os.MkdirTemp("", "hongbao-bench-")
	if err != nil {
		return server, err
	}
	s.later(func() error { return os.RemoveAll(dir) })
	if server, err = run(dir); err == nil {
		s.later(func() error { server.Stop(); return nil })
	}
	return server, err
}

func (s *site) redis(ctx context.Context) (*loopback.Redis, error) {
	return start(s, func(dir string) (*loopback.Redis, error) { return loopback.StartRedis(ctx, dir) })
}

func (s *site) postgres(ctx context.Context) (*loopback.Postgres, error) {
	return start(s, func(dir string) (*loopback.Postgres, error) { return loopback.StartPostgres(ctx, dir) })
}

// run drives something until the site is cleared.
func (s *site) run(ctx context.Context, task func(ctx context.Context) error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- task(ctx) }()
	s.later(func() error {
		stop()
		return <-ended
	})
}

// serve answers HTTP on a free loopback port.
func (s *site) serve(ctx context.Context, handle http.HandlerFunc) (url string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handle, ReadHeaderTimeout: 10 * time.Second}
	s.run(ctx, func(context.Context) error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	s.later(server.Close)
	return "http://" + listener.Addr().String(), nil
}

// redisClient with as many connections as there are callers.
func (s *site) redisClient(r *loopback.Redis, callers int) (*redis.Client, error) {
	o, err := redis.ParseURL(r.URL())
	if err != nil {
		return nil, err
	}
	o.PoolSize, o.MinIdleConns = callers, callers
	c := redis.NewClient(o)
	s.later(c.Close)
	return c, nil
}

// peerConnections is what suits the peers best: with more they wait in Postgres instead of here.
const peerConnections = 32

// peerDatabase is a database of a peer's own on the server that ours is on.
func (s *site) peerDatabase(ctx context.Context, pg *loopback.Postgres) (*schemes.Database, error) {
	url, err := pg.NewDatabase(ctx)
	if err != nil {
		return nil, err
	}
	db, err := schemes.Connect(ctx, url, peerConnections)
	if err == nil {
		s.later(db.Close)
	}
	return db, err
}

func (s *site) redisStore(ctx context.Context, r *loopback.Redis) (*redisstore.Store, error) {
	st, err := redisstore.Open(ctx, r.URL(), s.log)
	if err == nil {
		s.later(st.Close)
	}
	return st, err
}

func (s *site) pgStore(ctx context.Context, url string) (*pgstore.Store, error) {
	st, err := pgstore.Open(ctx, url, s.log)
	if err == nil {
		s.later(st.Close)
	}
	return st, err
}
