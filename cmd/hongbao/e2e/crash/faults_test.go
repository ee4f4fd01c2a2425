package crash

import (
	"net"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
)

// TestScaledFaults kills Postgres or doubles Redis under three servers while clients act. The money adds up at every moment; at the
// end all that clients were told is stored, and nothing is stuck. TestEachKindOfFault causes the other faults of both.
func TestScaledFaults(t *testing.T) {
	enginetest.Nightly(t, "crash")
	t.Parallel()
	binary := e2e.Build(t, "")
	var all sync.WaitGroup
	for name, fault := range map[string]func(t *testing.T, binary string){"two Redis masters": twoMasters, "Postgres killed": postgresKilled} {
		all.Go(func() { t.Run(name, func(t *testing.T) { fault(t, binary) }) })
	}
	all.Wait()
}

// during runs the workload, and causes the fault in the middle of it.
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
	w := newWorkload(t)
	w.redisLoses = true
	w.during(cluster, func() {
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
	newWorkload(t).during(cluster, func() { killed(t, postgres) })
}
