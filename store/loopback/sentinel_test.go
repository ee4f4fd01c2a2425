package loopback

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestSentinelFailsOver(t *testing.T) {
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
	if err := until(within(t, 5*time.Second), nil, holds(s.Replica(), "before")); err != nil {
		t.Fatal("the replica does not follow:", err)
	}
	s.Master().Kill()
	began = time.Now()
	if err := until(within(t, 30*time.Second), nil, func(ctx context.Context) error { return c.Set(ctx, "key", "after", 0).Err() }); err != nil {
		t.Fatal(err)
	}
	t.Logf("the replica took over after %v", time.Since(began))
	if got := get(t, s.Replica().Addr()); got != "after" {
		t.Errorf("the replica has %q", got)
	}

	// The one that was master follows now, and goes on doing so when both were away.
	if err := s.Master().Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := until(within(t, time.Minute), nil, holds(s.Master(), "after")); err != nil {
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

// holds is nil when the server has the value.
func holds(r *Redis, want string) func(context.Context) error {
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
