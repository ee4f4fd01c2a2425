package storetest

import (
	"context"
	"os"
	"sync"
	"testing"

	"hongbao/store/loopback"
)

// stopper is any server.
type stopper interface{ Stop() }

// servers are those that the tests of one binary share: started by the first test that asks, stopped by Main.
var servers struct {
	redis    shared[*loopback.Redis]
	cluster  shared[*loopback.RedisCluster]
	postgres shared[*loopback.Postgres]
	main     bool
}

// Main runs the tests of a package, and then stops the servers that they shared. A package whose tests share
// servers calls it: func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }.
func Main(m *testing.M) int {
	servers.main = true
	defer servers.redis.stop()
	defer servers.cluster.stop()
	defer servers.postgres.stop()
	return m.Run()
}

// Redis starts a server for this test alone, which may break it.
func Redis(t testing.TB) *loopback.Redis {
	t.Helper()
	return private(t, func(ctx context.Context, dir string) (*loopback.Redis, error) { return loopback.StartRedis(ctx, dir) })
}

// SharedRedis gives the server that the tests of this package share. They keep out of each other's keys.
func SharedRedis(t testing.TB) *loopback.Redis {
	t.Helper()
	return servers.redis.get(t, func(ctx context.Context, dir string) (*loopback.Redis, error) { return loopback.StartRedis(ctx, dir) })
}

// RedisCluster gives a cluster of three masters that the tests of this package share. They keep out of each
// other's keys.
func RedisCluster(t testing.TB) *loopback.RedisCluster {
	t.Helper()
	return servers.cluster.get(t, func(ctx context.Context, dir string) (*loopback.RedisCluster, error) {
		return loopback.StartRedisCluster(ctx, dir, 3)
	})
}

// Postgres starts a server for this test alone, which may break it.
func Postgres(t testing.TB) *loopback.Postgres {
	t.Helper()
	return private(t, loopback.StartPostgres)
}

// SharedPostgres gives the server that the tests of this package share. None may break it.
func SharedPostgres(t testing.TB) *loopback.Postgres {
	t.Helper()
	return servers.postgres.get(t, loopback.StartPostgres)
}

// Database makes an empty database on the shared server and gives its URL.
func Database(t testing.TB) string {
	t.Helper()
	url, err := SharedPostgres(t).NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// private starts a server in a folder of its own, and stops it with the test.
func private[S stopper](t testing.TB, start func(context.Context, string) (S, error)) S {
	t.Helper()
	s, err := start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// shared is a server that is started when it is first asked for. If it does not start, every test hears why.
type shared[S stopper] struct {
	once   sync.Once
	dir    string
	server S
	err    error
}

func (s *shared[S]) get(t testing.TB, start func(context.Context, string) (S, error)) S {
	t.Helper()
	if !servers.main {
		t.Fatal("tests that share servers need func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }")
	}
	s.once.Do(func() {
		if s.dir, s.err = os.MkdirTemp("", "hongbao"); s.err == nil { //nolint:usetesting // it outlives the test that asks first
			s.server, s.err = start(context.WithoutCancel(t.Context()), s.dir)
		}
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}

// stop ends the server if any test started it, and removes its folder.
func (s *shared[S]) stop() {
	if s.dir == "" {
		return
	}
	if s.err == nil {
		s.server.Stop()
	}
	_ = os.RemoveAll(s.dir) // a temporary folder
}
