package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hongbao/store/loopback"
)

const (
	splitFor      = 10 * time.Second // two masters of Redis serve at once
	failoverLimit = 90 * time.Second // for the sentinels: after a failover, the next one may have to wait 12 s
)

// startReplica starts a server that follows Redis through a proxy, and has all its data. stop removes it.
func (w *world) startReplica(ctx context.Context) (replica *loopback.Redis, link *loopback.Proxy, stop func(), err error) {
	dir := filepath.Join(w.dir, "replica")
	if replica, err = w.redisClock.StartRedis(ctx, dir, "--repl-diskless-sync-delay", "0"); err != nil {
		return nil, nil, nil, err
	}
	if link, err = loopback.StartProxy(w.redis.Addr()); err != nil {
		replica.Stop()
		return nil, nil, nil, err
	}
	stop = func() {
		replica.Stop()
		link.Close()
		_ = os.RemoveAll(dir)
	}
	if err = replica.Follow(ctx, link.Addr()); err != nil {
		stop()
	}
	return replica, link, stop, err
}

// leadToRedis makes instances use another server of Redis.
func leadToRedis(server *loopback.Redis, list []*instance) {
	for _, i := range list {
		i.toRedis.Retarget(server.Addr())
		i.toRedis.Cut()
	}
}

// splitRedis promotes a replica while the old master still serves one or two instances. After 10 s the old master becomes a replica of the
// new one, so its latest writes are lost. In the end an operator hands over to it in order.
func splitRedis(ctx context.Context, w *world, dice *rand.Rand) (err error) {
	w.movingRedis.Lock()
	defer w.movingRedis.Unlock()
	ctx = context.WithoutCancel(ctx) // Redis is made whole in any case
	next, _, stop, err := w.startReplica(ctx)
	if err != nil {
		return err
	}
	defer stop()
	defer func() {
		if err != nil {
			err = errors.Join(err, w.redis.Promote(ctx))
		}
		leadToRedis(w.redis, w.instances[:])
	}()
	if err := next.Promote(ctx); err != nil {
		return err
	}
	bothServe := awaitScripts(ctx, w.redis, next)
	for _, n := range dice.Perm(instances)[:1+dice.IntN(instances-1)] {
		leadToRedis(next, w.instances[n:n+1])
	}
	_ = pause(w.ctx, splitFor)
	if err := bothServe(); err != nil && w.ctx.Err() == nil {
		return err
	}
	if err := w.redis.Follow(ctx, next.Addr()); err != nil {
		return err
	}
	_ = pause(w.ctx, between(dice, 50*time.Millisecond, 2*time.Second)) // some instances still ask the replica
	leadToRedis(next, w.instances[:])
	_ = pause(w.ctx, between(dice, 500*time.Millisecond, 2*time.Second))
	return next.HandOver(ctx, w.redis)
}

// promoteStaleReplica makes all instances use a replica that has received nothing for some seconds. After some more seconds an operator
// undoes it: the old master serves again, and what was written meanwhile is lost.
func promoteStaleReplica(ctx context.Context, w *world, dice *rand.Rand) error {
	w.movingRedis.Lock()
	defer w.movingRedis.Unlock()
	replica, link, stop, err := w.startReplica(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer stop()
	link.Swallow(true)
	if err := pause(ctx, between(dice, time.Second, 5*time.Second)); err != nil {
		return err
	}
	if err := replica.Promote(ctx); err != nil {
		return err
	}
	defer leadToRedis(w.redis, w.instances[:])
	serves := awaitScripts(ctx, replica)
	leadToRedis(replica, w.instances[:])
	if err := pause(ctx, between(dice, 2*time.Second, 6*time.Second)); err != nil {
		return err
	}
	return serves()
}

// awaitScripts returns a function that returns an error if one of the servers has run no script since. It waits for some seconds: clients
// may be busy with the loss of their connections.
func awaitScripts(ctx context.Context, servers ...*loopback.Redis) func() error {
	before := make([]string, len(servers))
	for n, server := range servers {
		before[n] = scripts(ctx, server)
	}
	return func() error {
		for n, server := range servers {
			for deadline := time.Now().Add(10 * time.Second); scripts(ctx, server) == before[n]; {
				if time.Now().After(deadline) {
					return fmt.Errorf("the server of Redis at %s has run no script: the fault had no effect", server.Addr())
				}
				if err := pause(ctx, 100*time.Millisecond); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// scripts returns the server's statistics of scripts. They change with each script.
func scripts(ctx context.Context, server *loopback.Redis) string {
	c := redisClient(server)
	defer c.Close()
	for line := range strings.Lines(c.Info(ctx, "commandstats").Val()) {
		if strings.HasPrefix(line, "cmdstat_evalsha:") {
			return line
		}
	}
	return ""
}

// moveSlots moves slots of a Redis Cluster from node to node. Only slots with keys are moved.
func moveSlots(ctx context.Context, w *world, dice *rand.Rand) error {
	moved := 0
	for until := time.Now().Add(between(dice, 4*time.Second, 8*time.Second)); time.Now().Before(until); {
		nodes := w.cluster.Nodes()
		slot, found, err := anySlot(ctx, nodes[dice.IntN(len(nodes))])
		if err == nil && found {
			moved++
			err = w.cluster.MoveSlot(context.WithoutCancel(ctx), slot, between(dice, time.Millisecond, 20*time.Millisecond)) // none is left half moved
		}
		if err = errors.Join(err, pause(ctx, 50*time.Millisecond)); err != nil {
			return err
		}
	}
	if moved == 0 {
		return errors.New("no node had a key, so no slot was moved")
	}
	return nil
}

// anySlot returns the slot of one key of a node, or false if the node has no key.
func anySlot(ctx context.Context, node *loopback.Redis) (slot int, found bool, err error) {
	c := redisClient(node)
	defer c.Close()
	switch size, err := c.DBSize(ctx).Result(); {
	case err != nil || size == 0:
		return 0, false, err
	}
	key, err := c.RandomKey(ctx).Result()
	if err != nil {
		return 0, false, err
	}
	number, err := c.ClusterKeySlot(ctx, key).Result()
	return int(number), err == nil, err
}

// failOver breaks the master, and makes it whole again when the sentinels have promoted the replica. Then the old master is a replica.
func failOver(breaks func(*loopback.Redis), heal func(context.Context, *loopback.Redis) error) func(context.Context, *world, *rand.Rand) error {
	return func(ctx context.Context, w *world, dice *rand.Rand) error {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), failoverLimit) // Redis is made whole in any case
		defer cancel()
		old, replica, err := w.sentinel.Roles(within)
		if err != nil {
			return err
		}
		breaks(old)
		promoted := replica.AwaitMaster(within)
		_ = pause(ctx, between(dice, 50*time.Millisecond, 4*time.Second))
		if err := errors.Join(promoted, heal(within, old)); err != nil {
			return err
		}
		if err := w.sentinel.Await(within); err != nil {
			return fmt.Errorf("the old master does not follow the new one: %w", err)
		}
		return nil
	}
}

func resumeRedis(_ context.Context, r *loopback.Redis) error {
	r.Resume()
	return nil
}

func restartRedis(ctx context.Context, r *loopback.Redis) error { return r.Restart(ctx) }

// restartBouncer puts a PgBouncer between the instances and Postgres, and restarts it under load: it is stopped in order, or killed.
func restartBouncer(ctx context.Context, w *world, dice *rand.Rand) error {
	whole := context.WithoutCancel(ctx) // the instances are led back in any case
	bouncer, err := loopback.StartPgBouncer(whole, filepath.Join(w.dir, "pgbouncer"), w.postgres.current(), "postgres")
	if err != nil {
		return err
	}
	defer bouncer.Stop()
	defer func() { w.leadToPostgres(w.postgres.addr()) }()
	w.leadToPostgres(bouncer.Addr())
	for range 2 + dice.IntN(2) {
		if err := pause(ctx, between(dice, 500*time.Millisecond, 3*time.Second)); err != nil {
			return err
		}
		if dice.IntN(2) == 0 {
			bouncer.Kill()
			_ = pause(ctx, between(dice, 50*time.Millisecond, 3*time.Second)) // it is started in any case
		}
		if err := bouncer.Restart(whole); err != nil { // one that runs is stopped first
			return err
		}
	}
	return pause(ctx, between(dice, 500*time.Millisecond, 2*time.Second))
}
