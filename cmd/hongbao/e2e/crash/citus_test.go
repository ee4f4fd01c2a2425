package crash

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

var onCitus = flag.Bool("citus", false, "run the tests that need Citus")

// TestCitusFaults does to a coordinator and its two workers, under three servers, what TestScaledFaults does to one Postgres.
func TestCitusFaults(t *testing.T) {
	if !*onCitus {
		t.Skip("needs Citus: make nightly PART=citusfaults")
	}
	binary := e2e.Build(t, "")
	for _, fault := range []struct {
		name string
		run  func(t *testing.T, servers *e2e.Cluster, nodes *loopback.Citus, database string)
	}{
		{"server killed", func(_ *testing.T, servers *e2e.Cluster, _ *loopback.Citus, _ string) { servers.Servers[1].Kill() }},
		{"worker killed", func(t *testing.T, _ *e2e.Cluster, nodes *loopback.Citus, database string) {
			killed(t, nodes.Workers[0])
			endPrepared(t, database)
		}},
		{"coordinator killed", func(t *testing.T, _ *e2e.Cluster, nodes *loopback.Citus, database string) {
			killed(t, nodes.Coordinator)
			endPrepared(t, database)
		}},
		{"shards moved", shardsMoved},
	} {
		t.Run(fault.name, func(t *testing.T) {
			nodes, err := loopback.StartCitus(t.Context(), t.TempDir(), 2)
			e2e.NoError(t, err)
			t.Cleanup(nodes.Stop)
			database, err := nodes.NewDatabase(t.Context())
			e2e.NoError(t, err)
			servers := e2e.StartUnrestricted(t, binary, storetest.Redis(t), database, e2e.Three()...)
			w := newWorkload(t)
			w.endTime = 100 * time.Millisecond // 14 ms of BenchmarkEnd, and other work on the machine
			w.during(servers, func() { fault.run(t, servers, nodes, database) })
		})
	}
}

// killed kills a node and starts it again.
func killed(t *testing.T, node *loopback.Postgres) {
	t.Helper()
	node.Kill()
	time.Sleep(2 * time.Second)
	e2e.NoError(t, node.Restart(context.Background()))
}

// endPrepared makes Citus end the transactions that a worker had prepared before a node was killed, as its maintenance does each minute.
// Until then their rows are locked, and packets of their users cannot end.
func endPrepared(t *testing.T, database string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	e2e.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), `select recover_prepared_transactions()`)
	e2e.NoError(t, err)
}

// shardsMoved moves four parts of all split tables from the first worker to the second one.
func shardsMoved(t *testing.T, _ *e2e.Cluster, nodes *loopback.Citus, database string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	e2e.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	moved := 0
	for range 4 {
		tag, err := conn.Exec(t.Context(), fmt.Sprintf(`select citus_move_shard_placement(s.shardid, split_part('%[1]s', ':', 1), split_part('%[1]s', ':', 2)::int,
				split_part('%[2]s', ':', 1), split_part('%[2]s', ':', 2)::int)
			from (select shardid from pg_dist_shard_placement join pg_dist_shard using (shardid)
				where logicalrelid = 'claims'::regclass and nodename || ':' || nodeport = '%[1]s' order by shardid limit 1) s`,
			nodes.Workers[0].Addr(), nodes.Workers[1].Addr()))
		e2e.NoError(t, err)
		moved += int(tag.RowsAffected())
	}
	if moved != 4 {
		t.Errorf("moved %d parts, want 4", moved)
	}
}
