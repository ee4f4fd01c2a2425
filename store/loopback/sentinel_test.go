package loopback

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/store/enginetest"
)

func TestSentinelFailsOver(t *testing.T) {
	enginetest.Nightly(t, "waits")
	enginetest.Need(t, "Redis")
	t.Parallel() // it mostly waits
	began := time.Now()
	s, err := StartSentinel(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	rest, _ := strings.CutPrefix(s.URL(), "redis+sentinel://")
	t.Logf("started after %v", time.Since(began))
	addrs, name, _ := strings.Cut(rest, "/")
	c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: name, SentinelAddrs: strings.Split(addrs, ",")})
	t.Cleanup(func() { _ = c.Close() })

	if err := c.Set(t.Context(), "key", "before", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := waitUntil(within(t, 5*time.Second), nil, hasValue(s.Replica(), "before")); err != nil {
		t.Fatal("the replica does not follow:", err)
	}
	s.Master().Kill()
	began = time.Now()
	if err := waitUntil(within(t, 30*time.Second), nil, func(ctx context.Context) error { return c.Set(ctx, "key", "after", 0).Err() }); err != nil {
		t.Fatal(err)
	}
	t.Logf("the replica took over after %v", time.Since(began))
	if got := get(t, s.Replica().Addr()); got != "after" {
		t.Errorf("the replica has %q", got)
	}

	// The former master is a replica now, even after both servers were down.
	if err := s.Master().Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := waitUntil(within(t, time.Minute), nil, hasValue(s.Master(), "after")); err != nil {
		t.Error("the former master does not follow:", err)
	}
	if err := s.Master().Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	role, err := clientT(t, s.Master().Addr()).Do(t.Context(), "role").Slice()
	if err != nil || role[0] != "slave" {
		t.Errorf("after a restart the former master is %v, %v", role, err)
	}
}

// hasValue returns a check: it passes when the server holds the value.
func hasValue(r *Redis, want string) func(context.Context) error {
	return func(ctx context.Context) error {
		c := client(r.Addr())
		defer c.Close()
		got, err := c.Get(ctx, "key").Result()
		if err == nil && got != want {
			err = errors.New("it has " + got)
		}
		return err
	}
}
