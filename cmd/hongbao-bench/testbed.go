package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"

	"hongbao/store/loopback"
)

// testbed is the environment of a section, or of a run of another subcommand: private servers and the connections to them.
// The cleanup functions run at its end, in reverse order.
type testbed struct {
	log     *slog.Logger
	cleanup []func() error
}

// onTestbed runs play with a new testbed and cleans it up.
func onTestbed[T any](play func(s *testbed) (T, error)) (result T, err error) {
	s := &testbed{log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	defer func() {
		for _, clean := range slices.Backward(s.cleanup) {
			err = errors.Join(err, clean())
		}
	}()
	return play(s)
}

// addCleanup adds a cleanup function.
func (s *testbed) addCleanup(clean func() error) { s.cleanup = append(s.cleanup, clean) }

// stopper is any server.
type stopper interface{ Stop() }

// start starts a server in a folder of its own.
func start[S stopper](s *testbed, run func(dir string) (S, error)) (server S, err error) {
	dir, err := os.MkdirTemp("", "hongbao-bench-")
	if err != nil {
		return server, err
	}
	s.addCleanup(func() error { return os.RemoveAll(dir) })
	if server, err = run(dir); err == nil {
		s.addCleanup(func() error { server.Stop(); return nil })
	}
	return server, err
}

func (s *testbed) redis(ctx context.Context) (*loopback.Redis, error) {
	return start(s, func(dir string) (*loopback.Redis, error) { return loopback.StartRedis(ctx, dir) })
}

func (s *testbed) postgres(ctx context.Context) (*loopback.Postgres, error) {
	return start(s, func(dir string) (*loopback.Postgres, error) { return loopback.StartPostgres(ctx, dir) })
}

func (s *testbed) citus(ctx context.Context) (*loopback.Citus, error) {
	return start(s, func(dir string) (*loopback.Citus, error) { return loopback.StartCitus(ctx, dir, 2) })
}

// peerConnections is the number of connections with which the peers are fastest. With more, requests wait in Postgres
// instead of here.
const peerConnections = 32
