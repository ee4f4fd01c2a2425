package loopback

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	sentinelMaster = "hongbao" // the name that clients ask for
	sentinels      = 3

	// After a switch a sentinel pings the new master only when a second has passed. Were it patient for no longer than
	// that, it would now and then take the new master for dead too, and make the old one master again, empty.
	sentinelPatience = 2 * time.Second
)

// Sentinel is a master and its replica, and three sentinels that let the replica take over when the master has been
// silent for two seconds.
type Sentinel struct {
	master, replica *Redis
	watchers        []*daemon
}

// StartSentinel starts all of them in the folder, and returns when the replica follows the master and each sentinel
// knows of everybody.
func StartSentinel(ctx context.Context, dir string) (*Sentinel, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	s := &Sentinel{}
	if err := s.start(ctx, dir); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start sentinels: %w", err)
	}
	return s, nil
}

func (s *Sentinel) start(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if s.master, err = startRedis(ctx, filepath.Join(dir, "master"), false, "", "--repl-diskless-sync-delay", "0"); err != nil {
		return err
	}
	follow := fmt.Sprintf("replicaof 127.0.0.1 %d\n", s.master.port.number) // in the file, where a sentinel can change it
	if s.replica, err = startRedis(ctx, filepath.Join(dir, "replica"), false, follow, "--repl-diskless-sync-delay", "0"); err != nil {
		return err
	}
	if err := until(ctx, s.replica.current(), s.follows); err != nil {
		return err
	}
	for i := range sentinels {
		if err := s.watch(ctx, filepath.Join(dir, fmt.Sprintf("sentinel-%d", i))); err != nil {
			return err
		}
	}
	for _, w := range s.watchers {
		if err := until(ctx, w.current(), func(ctx context.Context) error { return knowsAll(ctx, w.Addr()) }); err != nil {
			return err
		}
	}
	return nil
}

// watch starts one sentinel. It writes what it learns into its file, so the file is made once.
func (s *Sentinel) watch(ctx context.Context, dir string) error {
	server, err := program("redis-server")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	conf := filepath.Join(dir, "sentinel.conf")
	first := fmt.Sprintf(`dir %q
sentinel monitor %[2]s 127.0.0.1 %[3]d 2
sentinel down-after-milliseconds %[2]s %[4]d
sentinel failover-timeout %[2]s 6000
`, dir, sentinelMaster, s.master.port.number, sentinelPatience.Milliseconds())
	if err := os.WriteFile(conf, []byte(first), 0o600); err != nil {
		return err
	}
	w := &daemon{
		name: "redis-sentinel", dir: dir, ask: syscall.SIGTERM, ready: pong,
		command: func(port int) []string {
			return []string{server, conf, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--sentinel"}
		},
	}
	if err := w.launch(ctx); err != nil {
		return err
	}
	s.watchers = append(s.watchers, w)
	return nil
}

// follows is nil when the replica has all that the master has.
func (s *Sentinel) follows(ctx context.Context) error {
	c := client(s.replica.Addr())
	defer c.Close() //nolint:errcheck // it asked one question
	info, err := c.Info(ctx, "replication").Result()
	if err == nil && !strings.Contains(info, "master_link_status:up\r\n") {
		err = fmt.Errorf("%s does not follow %s", s.replica.Addr(), s.master.Addr())
	}
	return err
}

// knowsAll is nil when the sentinel could take part in a failover.
func knowsAll(ctx context.Context, addr string) error {
	c := redis.NewSentinelClient(&redis.Options{Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true, DisableIdentity: true})
	defer c.Close() //nolint:errcheck // it asked one question
	master, err := c.Master(ctx, sentinelMaster).Result()
	if err == nil && (master["num-slaves"] != "1" || master["num-other-sentinels"] != strconv.Itoa(sentinels-1)) {
		err = fmt.Errorf("sentinel %s knows of %s replicas and %s other sentinels", addr, master["num-slaves"], master["num-other-sentinels"])
	}
	return err
}

// URL is how clients are told of it.
func (s *Sentinel) URL() string {
	addrs := make([]string, len(s.watchers))
	for i, w := range s.watchers {
		addrs[i] = w.Addr()
	}
	return fmt.Sprintf("redis+sentinel://%s/%s", strings.Join(addrs, ","), sentinelMaster)
}

// Master is the server that began as the master, whatever it is now.
func (s *Sentinel) Master() *Redis { return s.master }

// Replica is the server that began as the replica, whatever it is now.
func (s *Sentinel) Replica() *Redis { return s.replica }

// Stop ends all of them, first those that would see in it a master's death.
func (s *Sentinel) Stop() {
	var all sync.WaitGroup
	for _, w := range s.watchers {
		all.Go(w.Stop)
	}
	all.Wait()
	for _, r := range []*Redis{s.replica, s.master} {
		if r != nil {
			r.Stop()
		}
	}
}
