package loopback

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(orphanFolder); dir != "" {
		startOrphans(dir)
	}
	goleak.VerifyTestMain(m)
}

// within bounds what should take no time at all.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func startRedisT(t *testing.T, args ...string) *Redis {
	t.Helper()
	r, err := StartRedis(t.Context(), t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

func startPostgresT(t *testing.T) *Postgres {
	t.Helper()
	p, err := StartPostgres(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// clientT is closed with the test.
func clientT(t *testing.T, addr string) *redis.Client {
	t.Helper()
	c := client(addr)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// set and get are one command each; an error is part of the answer.
func set(t *testing.T, addr, value string) {
	t.Helper()
	if err := clientT(t, addr).Set(t.Context(), "key", value, 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, addr string) string {
	t.Helper()
	value, err := clientT(t, addr).Get(t.Context(), "key").Result()
	if err != nil {
		return err.Error()
	}
	return value
}
