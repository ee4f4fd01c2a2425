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

// Redis is one redis-server. It keeps its data in memory only, unless it was started with other arguments.
type Redis struct{ *daemon }

// StartRedis starts a server in the folder. More arguments of redis-server, such as "--appendonly", "yes", win over
// those that are given anyway.
func StartRedis(ctx context.Context, dir string, args ...string) (*Redis, error) {
	return startRedis(ctx, dir, false, "", args...)
}

// startRedis also takes what its configuration file says at first. Orders of sentinels and of CONFIG REWRITE go
// there, and count again after a restart.
func startRedis(ctx context.Context, dir string, bus bool, file string, args ...string) (*Redis, error) {
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
		name: "redis-server", dir: dir, bus: bus, ask: syscall.SIGTERM, ready: pong,
		command: func(port int) []string {
			return append([]string{
				server, conf, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
				"--save", "", "--appendonly", "no", "--enable-debug-command", "yes",
				"--shutdown-timeout", "0", // Stop waits for no replica that is paused
			}, args...)
		},
	}}
	if err := r.launch(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// URL is how clients are told of it.
func (r *Redis) URL() string { return fmt.Sprintf("redis://%s/0", r.Addr()) }

// Pause freezes it: it answers nothing, its connections stay open.
func (r *Redis) Pause() {
	if p := r.current(); p != nil {
		pause(p.cmd.Process)
	}
}

// Resume lets it go on where it was.
func (r *Redis) Resume() {
	if p := r.current(); p != nil {
		resume(p.cmd.Process)
	}
}

// pong is nil when the server answers, and has read its files. One that asks for a password is ready too.
func pong(ctx context.Context, addr string) error {
	c := client(addr)
	defer c.Close() //nolint:errcheck // it asked one question
	err := c.Ping(ctx).Err()
	if redis.HasErrorPrefix(err, "NOAUTH") {
		return nil
	}
	return err
}

// client asks once, and says nothing about itself: servers that are starting answer as they can.
func client(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1, PoolSize: 1, ContextTimeoutEnabled: true, DisableIdentity: true})
}
