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
	sentinelMaster = "hongbao" // name by which clients ask the sentinels for the master
	sentinels      = 3

	// downAfter is how long a master must be silent before a sentinel considers it dead. After a failover a sentinel pings
	// the new master only after a second. With a limit of one second the sentinels would sometimes consider the new master
	// dead, too. Then they would promote the old master again, which is empty.
	downAfter = 2 * time.Second
)

// Sentinel is a Redis master with a replica, and three sentinels. These promote the replica when the master has been
// silent for two seconds.
type Sentinel struct {
	master, replica *Redis
	sentinels       []*daemon
}

// StartSentinel starts all servers in the folder. It returns when the replica follows the master and each sentinel
// knows all other servers.
func StartSentinel(ctx context.Context, dir string) (*Sentinel, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
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
	if s.master, err = startRedis(ctx, nil, filepath.Join(dir, "master"), false, "", "--repl-diskless-sync-delay", "0"); err != nil {
		return err
	}
	follow := fmt.Sprintf("replicaof 127.0.0.1 %d\n", s.master.port.number) // in the file, so that a sentinel can change it
	if s.replica, err = startRedis(ctx, nil, filepath.Join(dir, "replica"), false, follow, "--repl-diskless-sync-delay", "0"); err != nil {
		return err
	}
	if err := waitUntil(ctx, s.replica.current(), s.replica.follows); err != nil {
		return err
	}
	for i := range sentinels {
		if err := s.watch(ctx, filepath.Join(dir, fmt.Sprintf("sentinel-%d", i))); err != nil {
			return err
		}
	}
	for _, w := range s.sentinels {
		if err := waitUntil(ctx, w.current(), func(ctx context.Context) error { return knowsAll(ctx, w.Addr()) }); err != nil {
			return err
		}
	}
	return nil
}

// watch starts one sentinel. A sentinel writes its state into its configuration file, so watch writes the file only before the
// first start, and a Restart does not write it again.
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
`, dir, sentinelMaster, s.master.port.number, downAfter.Milliseconds())
	if err := os.WriteFile(conf, []byte(first), 0o600); err != nil {
		return err
	}
	w := &daemon{
		name: "redis-sentinel", dir: dir, stopSignal: syscall.SIGTERM, ready: answersPing,
		command: func(port int) []string {
			return []string{server, conf, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--sentinel"}
		},
	}
	if err := w.launch(ctx); err != nil {
		return err
	}
	s.sentinels = append(s.sentinels, w)
	return nil
}

// knowsAll returns nil when the sentinel knows all other servers, so that it can take part in a failover.
func knowsAll(ctx context.Context, addr string) error {
	c := redis.NewSentinelClient(&redis.Options{Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true, DisableIdentity: true})
	defer c.Close() //nolint:errcheck // the reply is known already
	master, err := c.Master(ctx, sentinelMaster).Result()
	if err == nil && (master["num-slaves"] != "1" || master["num-other-sentinels"] != strconv.Itoa(sentinels-1)) {
		err = fmt.Errorf("sentinel %s knows of %s replicas and %s other sentinels", addr, master["num-slaves"], master["num-other-sentinels"])
	}
	return err
}

// URL returns the URL for clients.
func (s *Sentinel) URL() string {
	addrs := make([]string, len(s.sentinels))
	for i, w := range s.sentinels {
		addrs[i] = w.Addr()
	}
	return fmt.Sprintf("redis+sentinel://%s/%s", strings.Join(addrs, ","), sentinelMaster)
}

// Master returns the server that was started as the master, whatever its role is now.
func (s *Sentinel) Master() *Redis { return s.master }

// Replica returns the server that was started as the replica, whatever its role is now.
func (s *Sentinel) Replica() *Redis { return s.replica }

// Roles returns the present master and its replica. It returns an error while there are two masters, or none.
func (s *Sentinel) Roles(ctx context.Context) (master, replica *Redis, err error) {
	first, err := s.master.IsMaster(ctx)
	if err != nil {
		return nil, nil, err
	}
	second, err := s.replica.IsMaster(ctx)
	switch {
	case err != nil:
		return nil, nil, err
	case first == second:
		return nil, nil, fmt.Errorf("%s is a master: %t, and %s: %t", s.master.Addr(), first, s.replica.Addr(), second)
	case first:
		return s.master, s.replica, nil
	}
	return s.replica, s.master, nil
}

// Await waits until there is one master, and the other server follows it.
func (s *Sentinel) Await(ctx context.Context) error {
	return waitUntil(ctx, nil, func(ctx context.Context) error {
		_, replica, err := s.Roles(ctx)
		if err == nil {
			err = replica.follows(ctx)
		}
		return err
	})
}

// Stop stops all servers, the sentinels first, so that they do not start a failover when the master stops.
func (s *Sentinel) Stop() {
	var all sync.WaitGroup
	for _, w := range s.sentinels {
		all.Go(w.Stop)
	}
	all.Wait()
	for _, r := range []*Redis{s.replica, s.master} {
		if r != nil {
			r.Stop()
		}
	}
}
