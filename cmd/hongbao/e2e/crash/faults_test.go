package crash

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// TestScaledFaults breaks Redis or Postgres under three servers while clients act. The money adds up at every moment; at the end
// all that clients were told is stored, and nothing is stuck.
func TestScaledFaults(t *testing.T) {
	enginetest.Nightly(t, "crash")
	t.Parallel()
	binary := e2e.Build(t, "")
	var all sync.WaitGroup
	for name, fault := range map[string]func(t *testing.T, binary string){
		"Redis flushed":             redisFlushed,
		"Redis killed":              redisKilled,
		"Redis killed, with AOF":    redisKilledWithAOF,
		"Redis restored from older": redisRestored,
		"two Redis masters":         twoMasters,
		"Postgres killed":           postgresKilled,
	} {
		all.Go(func() { t.Run(name, func(t *testing.T) { fault(t, binary) }) })
	}
	all.Wait()
}

// during runs the workload, and causes the fault in the middle of it. Redis must lose nothing.
func during(t *testing.T, c *e2e.Cluster, fault func()) {
	t.Helper()
	newWorkload(t).during(c, fault)
}

// duringLoss does what during does, for a fault by which Redis may lose grabs.
func duringLoss(t *testing.T, c *e2e.Cluster, fault func()) {
	t.Helper()
	w := newWorkload(t)
	w.redisLoses = true
	w.during(c, fault)
}

func (w *workload) during(c *e2e.Cluster, fault func()) {
	t := w.t
	t.Helper()
	w.rounds = 300
	w.prepare(c.Front())
	w.auditContinuously()
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { w.run(stop, time.Minute) })
	e2e.Eventually(t, 30*time.Second, "5 requests are acknowledged before the fault", func() bool { return w.acknowledged() >= 5 })
	fault()
	before := w.acknowledged()
	e2e.Eventually(t, 40*time.Second, "10 more requests are acknowledged after the fault", func() bool { return w.acknowledged() >= before+10 })
	close(stop)
	running.Wait()
	w.check()
}

func redisFlushed(t *testing.T, binary string) {
	cluster := e2e.StartCluster(t, binary, storetest.Redis(t), storetest.Database(t), e2e.Three()...)
	redis := e2e.RedisClient(t, cluster.Redis)
	duringLoss(t, cluster, func() {
		for range 3 {
			e2e.NoError(t, redis.FlushAll(t.Context()).Err())
			time.Sleep(300 * time.Millisecond)
		}
	})
}

func redisKilled(t *testing.T, binary string) {
	cluster := e2e.StartCluster(t, binary, storetest.Redis(t), storetest.Database(t), e2e.Three()...)
	duringLoss(t, cluster, func() {
		cluster.Redis.Kill()
		time.Sleep(2 * time.Second)
		e2e.NoError(t, cluster.Redis.Restart(context.Background()))
	})
}

func redisKilledWithAOF(t *testing.T, binary string) {
	cluster := e2e.StartCluster(t, binary, redisWith(t, "--appendonly", "yes"), storetest.Database(t), e2e.Three()...)
	duringLoss(t, cluster, func() {
		cluster.Redis.Kill()
		e2e.NoError(t, cluster.Redis.Restart(context.Background()))
	})
}

// redisRestored puts Redis back to an older dump: later writes are lost, and keys that were deleted since are back.
func redisRestored(t *testing.T, binary string) {
	server := redisWith(t, "--dbfilename", "dump.rdb")
	cluster := e2e.StartCluster(t, binary, server, storetest.Database(t), e2e.Three()...)
	redis := e2e.RedisClient(t, server)
	duringLoss(t, cluster, func() {
		e2e.NoError(t, redis.Save(t.Context()).Err())
		dir, err := redis.ConfigGet(t.Context(), "dir").Result()
		e2e.NoError(t, err)
		dump := filepath.Join(dir["dir"], "dump.rdb")
		old, err := os.ReadFile(dump)
		e2e.NoError(t, err)
		time.Sleep(1500 * time.Millisecond)
		server.Kill()
		e2e.NoError(t, os.WriteFile(dump, old, 0o644))
		e2e.NoError(t, server.Restart(context.Background()))
	})
}

// twoMasters promotes a replica while one server still uses the old master; later only the new one is a master.
func twoMasters(t *testing.T, binary string) {
	first, second := storetest.Redis(t), storetest.Redis(t)
	old, promoted := e2e.RedisClient(t, first), e2e.RedisClient(t, second)
	host, port, _ := net.SplitHostPort(first.Addr())
	e2e.NoError(t, promoted.ReplicaOf(t.Context(), host, port).Err())
	early, late := e2e.StartBalancer(t), e2e.StartBalancer(t) // between servers and Redis
	early.OnlyTo(first.Addr())
	late.OnlyTo(first.Addr())
	through := func(b *e2e.Balancer) []string { return []string{"HONGBAO_REDIS_URL=redis://" + b.Addr() + "/0"} }
	cluster := e2e.StartCluster(t, binary, first, storetest.Database(t), through(late), through(early), through(early))
	duringLoss(t, cluster, func() {
		e2e.NoError(t, promoted.ReplicaOf(t.Context(), "NO", "ONE").Err())
		early.OnlyTo(second.Addr())
		early.Cut(1)
		time.Sleep(4 * time.Second)
		host, port, _ = net.SplitHostPort(second.Addr())
		e2e.NoError(t, old.ReplicaOf(t.Context(), host, port).Err()) // the server that still uses it is answered READONLY
		time.Sleep(time.Second)
		late.OnlyTo(second.Addr())
		late.Cut(1)
	})
}

func postgresKilled(t *testing.T, binary string) {
	postgres := storetest.Postgres(t)
	database, err := postgres.NewDatabase(t.Context())
	e2e.NoError(t, err)
	cluster := e2e.StartCluster(t, binary, storetest.Redis(t), database, e2e.Three()...)
	during(t, cluster, func() { killed(t, postgres) })
}

// redisWith starts a Redis of the test's own with more arguments.
func redisWith(t *testing.T, args ...string) *loopback.Redis {
	t.Helper()
	enginetest.Need(t, "Redis")
	dir := filepath.Join(t.TempDir(), "redis")
	e2e.NoError(t, os.MkdirAll(dir, 0o755))
	r, err := loopback.StartRedis(t.Context(), dir, args...)
	e2e.NoError(t, err)
	t.Cleanup(r.Stop)
	return r
}
