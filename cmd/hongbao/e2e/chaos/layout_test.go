package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hongbao/store/loopback"
)

// layout is how the Redis of a world is set up.
type layout string

const (
	oneRedis      layout = "one"      // one server, whose file keeps every write
	redisCluster  layout = "cluster"  // a Redis Cluster of three masters
	redisSentinel layout = "sentinel" // a master with a replica, watched by three sentinels
)

// layouts returns all layouts in the order of TestEachKindOfFault.
func layouts() []layout { return []layout{oneRedis, redisCluster, redisSentinel} }

// checkLayout returns an error if the flag names no layout.
func checkLayout(name string) error {
	if name != "" && !slices.Contains(layouts(), layout(name)) {
		return fmt.Errorf("-chaos.layout is %q, want one of %q", name, layouts())
	}
	return nil
}

// wanted returns the layouts that the flag allows and in which a kind with this text in its name can be caused.
func wanted(name, contains string) (list []layout) {
	for _, l := range layouts() {
		if (name == "" || layout(name) == l) && len(kindsOf(l, contains)) > 0 {
			list = append(list, l)
		}
	}
	return list
}

// kindsOf returns the kinds that fit a layout and have this text in their names.
func kindsOf(l layout, contains string) []kind {
	return slices.DeleteFunc(kinds(), func(k kind) bool { return k.layout != "" && k.layout != l || !strings.Contains(k.name, contains) })
}

// drawLayout chooses the layout of a world by the seed of its first fault. Most worlds have one server: most kinds need it.
func drawLayout(seed uint64, list []layout) layout {
	dice := rand.New(rand.NewPCG(seed, 0))
	if n := dice.IntN(len(list) + 2); n < len(list) {
		return list[n]
	}
	return list[0]
}

// startRedis starts the Redis of the layout.
func (w *world) startRedis() (err error) {
	w.redisDir = filepath.Join(w.dir, "redis")
	switch w.layout {
	case redisCluster:
		if err = os.Mkdir(w.redisDir, 0o755); err != nil {
			return err
		}
		if w.cluster, err = loopback.StartRedisCluster(w.ctx, w.redisDir, 3); err != nil {
			return err
		}
		w.t.Cleanup(w.cluster.Stop)
		return w.cluster.KeepNodes(w.ctx)
	case redisSentinel:
		if w.sentinel, err = loopback.StartSentinel(w.ctx, w.redisDir); err == nil {
			w.t.Cleanup(w.sentinel.Stop)
		}
		return err
	}
	w.redisClock = w.newClock("Redis")
	// The file keeps every write: it reaches the operating system before the reply is sent, and outlives a killed process.
	w.redis, err = w.redisClock.StartRedis(w.ctx, w.redisDir, "--appendonly", "yes", "--appendfsync", "no", "--repl-diskless-sync-delay", "0")
	if err == nil {
		w.t.Cleanup(w.redis.Stop)
	}
	return err
}

// redisServers returns all servers of Redis, whatever their roles.
func (w *world) redisServers() []*loopback.Redis {
	switch w.layout {
	case redisCluster:
		return w.cluster.Nodes()
	case redisSentinel:
		return []*loopback.Redis{w.sentinel.Master(), w.sentinel.Replica()}
	}
	return []*loopback.Redis{w.redis}
}

// redisURL returns the URL of Redis for an instance. Only with one server a proxy is on the way: nodes and sentinels tell clients
// the addresses of others.
func (w *world) redisURL(i *instance) string {
	switch w.layout {
	case redisCluster:
		return w.cluster.URL()
	case redisSentinel:
		return w.sentinel.URL()
	}
	return "redis://" + i.toRedis.Addr() + "/0"
}
