package loopback

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// Redis is one redis-server. It keeps its data only in memory, unless other arguments were given.
type Redis struct{ *daemon }

// StartRedis starts a server in the folder. The given arguments of redis-server, such as "--appendonly", "yes",
// override the defaults.
func StartRedis(ctx context.Context, dir string, args ...string) (*Redis, error) {
	return (*Clock)(nil).StartRedis(ctx, dir, args...)
}

// StartRedis does what the function StartRedis does, and gives the server this clock.
func (c *Clock) StartRedis(ctx context.Context, dir string, args ...string) (*Redis, error) {
	return startRedis(ctx, c, dir, false, "", args...)
}

// startRedis starts a server. file is the first content of the server's configuration file. Sentinels and CONFIG REWRITE write
// to the configuration file, and a restarted server reads it again. With bus, the server's bus port is reserved, too.
func startRedis(ctx context.Context, clock *Clock, dir string, bus bool, file string, args ...string) (*Redis, error) {
	server, err := program("redis-server")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "redis.conf")
	if err := os.WriteFile(conf, []byte(file), 0o600); err != nil {
		return nil, err
	}
	r := &Redis{&daemon{
		name: "redis-server", dir: dir, clock: clock, bus: bus, stopSignal: syscall.SIGTERM, ready: answersPing,
		command: func(port int) []string {
			return append([]string{
				server, conf, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
				"--save", "", "--appendonly", "no", "--enable-debug-command", "yes",
				"--shutdown-timeout", "0", // otherwise Stop would wait for a paused replica
			}, args...)
		},
	}}
	if err := r.launch(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// URL returns the URL for clients.
func (r *Redis) URL() string { return fmt.Sprintf("redis://%s/0", r.Addr()) }

// EmptyDatabase deletes all data of the database with this number, and returns its URL.
func (r *Redis) EmptyDatabase(ctx context.Context, number int) (url string, err error) {
	c := redis.NewClient(&redis.Options{Addr: r.Addr(), DB: number, DisableIdentity: true})
	defer c.Close() //nolint:errcheck // the reply is known already
	return fmt.Sprintf("redis://%s/%d", r.Addr(), number), c.FlushDB(ctx).Err()
}

// Pause stops the server's process (SIGSTOP): it answers nothing, and its connections stay open.
func (r *Redis) Pause() {
	if p := r.current(); p != nil {
		pause(p.cmd.Process)
	}
}

// Resume lets a paused process go on.
func (r *Redis) Resume() {
	if p := r.current(); p != nil {
		resume(p.cmd.Process)
	}
}

// answersPing returns nil when the server answers and has loaded its data. A server that asks for a password counts
// as ready, too.
func answersPing(ctx context.Context, addr string) error {
	c := client(addr)
	defer c.Close() //nolint:errcheck // the reply is known already
	err := c.Ping(ctx).Err()
	if redis.HasErrorPrefix(err, "NOAUTH") {
		return nil
	}
	return err
}

// client returns a client that sends each command only once. It does not identify itself, because a server that is
// starting may not understand that.
func client(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1, PoolSize: 1, ContextTimeoutEnabled: true, DisableIdentity: true})
}
