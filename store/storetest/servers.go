package storetest

import (
	"context"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/store/loopback"
)

// stopper is any server that can be stopped.
type stopper interface{ Stop() }

// servers are servers that all tests of one package share. The first test that needs one starts it, and Main stops
// it.
var servers struct {
	redis    shared[*loopback.Redis]
	cluster  shared[*loopback.RedisCluster]
	postgres shared[*loopback.Postgres]
	citus    shared[*loopback.Citus]
	main     bool
}

// Main runs the tests of a package, and then stops the shared servers. A package whose tests share servers must call
// it: func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }.
func Main(m *testing.M) int {
	servers.main = true
	defer servers.redis.stop()
	defer servers.cluster.stop()
	defer servers.postgres.stop()
	defer servers.citus.stop()
	return m.Run()
}

// Redis starts a server for this test alone. The test may break it.
func Redis(t testing.TB) *loopback.Redis {
	t.Helper()
	enginetest.Need(t, "Redis")
	return private(t, func(ctx context.Context, dir string) (*loopback.Redis, error) { return loopback.StartRedis(ctx, dir) })
}

// SharedRedis returns the server that the tests of this package share. The tests must use different keys.
func SharedRedis(t testing.TB) *loopback.Redis {
	t.Helper()
	enginetest.Need(t, "Redis")
	return servers.redis.get(t, func(ctx context.Context, dir string) (*loopback.Redis, error) {
		return loopback.StartRedis(ctx, dir, "--databases", strconv.Itoa(redisDatabases))
	})
}

// redisDatabases is the number of databases of the shared server.
const redisDatabases = 512

// lastRedisDatabase is the number of the last database that RedisDatabase has returned.
var lastRedisDatabase atomic.Int64

// RedisDatabase returns the URL of an empty database on the shared server. No other test uses the database until as many
// tests have called RedisDatabase as there are databases. The test may neither break the server nor delete the data of all databases.
func RedisDatabase(t testing.TB) string {
	t.Helper()
	number := 1 + int(lastRedisDatabase.Add(1)-1)%(redisDatabases-1)
	url, err := SharedRedis(t).EmptyDatabase(t.Context(), number)
	noError(t, err)
	return url
}

// RedisCluster returns a cluster of three masters that the tests of this package share. The tests must use different keys.
func RedisCluster(t testing.TB) *loopback.RedisCluster {
	t.Helper()
	enginetest.Need(t, "Redis")
	return servers.cluster.get(t, func(ctx context.Context, dir string) (*loopback.RedisCluster, error) {
		c, err := loopback.StartRedisCluster(ctx, dir, 3)
		if err == nil {
			err = c.KeepNodes(ctx)
		}
		return c, err
	})
}

// Postgres starts a server for this test alone. The test may break it.
func Postgres(t testing.TB) *loopback.Postgres {
	t.Helper()
	enginetest.Need(t, "Postgres")
	return private(t, loopback.StartPostgres)
}

// SharedPostgres returns the server that the tests of this package share. No test may break it.
func SharedPostgres(t testing.TB) *loopback.Postgres {
	t.Helper()
	enginetest.Need(t, "Postgres")
	return servers.postgres.get(t, loopback.StartPostgresForMany)
}

// SharedCitus returns the coordinator and the two workers that the tests of this package share. No test may break them.
func SharedCitus(t testing.TB) *loopback.Citus {
	t.Helper()
	enginetest.Need(t, "Postgres")
	return servers.citus.get(t, func(ctx context.Context, dir string) (*loopback.Citus, error) {
		return loopback.StartCitus(ctx, dir, 2)
	})
}

// Database creates an empty database on the shared server and returns its URL.
func Database(t testing.TB) string {
	t.Helper()
	url, err := SharedPostgres(t).NewDatabase(t.Context())
	noError(t, err)
	return url
}

// private starts a server in a folder of its own, and stops it with the test.
func private[S stopper](t testing.TB, start func(context.Context, string) (S, error)) S {
	t.Helper()
	s, err := start(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(s.Stop)
	return s
}

// shared is a server that starts when the first test needs it. If its start fails, every test that needs it fails
// with the same error.
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
		if s.dir, s.err = os.MkdirTemp("", "hongbao"); s.err == nil { //nolint:usetesting // the folder outlives the first test
			s.server, s.err = start(context.WithoutCancel(t.Context()), s.dir)
		}
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}

// stop stops the server if a test has started it, and removes its folder.
func (s *shared[S]) stop() {
	if s.dir == "" {
		return
	}
	if s.err == nil {
		s.server.Stop()
	}
	_ = os.RemoveAll(s.dir) // a temporary folder
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
