package loopback

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"hongbao/store/enginetest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(orphanFolder); dir != "" {
		startOrphans(dir)
	}
	goleak.VerifyTestMain(m)
}

// within returns a context that ends after d, for an operation that should take almost no time.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func startRedisT(t *testing.T, args ...string) *Redis {
	t.Helper()
	enginetest.Need(t, "Redis")
	r, err := StartRedis(t.Context(), t.TempDir(), args...)
	noError(t, err)
	t.Cleanup(r.Stop)
	return r
}

func startPostgresT(t *testing.T) *Postgres {
	t.Helper()
	enginetest.Need(t, "Postgres")
	p, err := StartPostgres(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(p.Stop)
	return p
}

// clientT returns a client that is closed with the test.
func clientT(t *testing.T, addr string) *redis.Client {
	t.Helper()
	c := client(addr)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// set and get run one Redis command each. An error fails the test or is part of the answer.
func set(t *testing.T, addr, value string) {
	t.Helper()
	noError(t, clientT(t, addr).Set(t.Context(), "key", value, 0).Err())
}

func get(t *testing.T, addr string) string {
	t.Helper()
	value, err := clientT(t, addr).Get(t.Context(), "key").Result()
	if err != nil {
		return err.Error()
	}
	return value
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
