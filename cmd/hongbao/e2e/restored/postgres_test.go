package restored

import (
	"fmt"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// TestRestoredDump restores a dump under three servers that run.
func TestRestoredDump(t *testing.T) {
	postgres := storetest.Postgres(t)
	database, err := postgres.NewDatabase(t.Context())
	e2e.NoError(t, err)
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), database, e2e.Three()...)
	r := openRoom(t, cluster.Servers...)
	lost := r.before()
	dump := filepath.Join(t.TempDir(), "dump")
	run(t, nil, postgresProgram(t, "pg_dump"), "-Fc", "-f", dump, database)
	r.after(lost)

	replaceDatabase(t, postgres, database, dump)
	r.awaitRenumbering()
	r.say(9)
	r.mustNotReuse(lost)
	r.mustRefund(lost.open, lost.first, lost.second) // Redis knows the second grant, so it is paid again
	r.mustAgree()
	awaitQuarantine(t, cluster.Front())
	mustHaveEpochs(t, cluster, 1)
	cluster.Front().MustBalance()
}

// replaceDatabase restores a dump into a new database, and gives it the name of the present one.
func replaceDatabase(t *testing.T, postgres *loopback.Postgres, database, dump string) {
	t.Helper()
	u, err := url.Parse(database)
	e2e.NoError(t, err)
	name, psql := u.Path[1:], postgresProgram(t, "psql")
	run(t, nil, psql, postgres.URL("postgres"), "-c", "create database restored_one")
	run(t, nil, postgresProgram(t, "pg_restore"), "-d", postgres.URL("restored_one"), dump)
	run(t, nil, psql, postgres.URL("postgres"),
		"-c", fmt.Sprintf("drop database %s with (force)", name), "-c", fmt.Sprintf("alter database restored_one rename to %s", name))
}

// TestStandbyThatLackedCommits promotes an asynchronous standby that had not received the last commits.
func TestStandbyThatLackedCommits(t *testing.T) {
	enginetest.Nightly(t, "whole")
	f := newFailover(t)
	r := openRoom(t, f.cluster.Servers...)
	lost := r.before()
	f.catchUp()
	e2e.NoError(t, f.standby.Detach(t.Context()))
	r.after(lost)

	f.failOver()
	r.awaitRenumbering()
	r.say(9)
	r.mustNotReuse(lost)
	r.mustRefund(lost.open, lost.first, lost.second)
	r.mustAgree()
	awaitQuarantine(t, f.cluster.Front())
	mustHaveEpochs(t, f.cluster, 1)
	servers := float64(len(f.cluster.Servers))
	for metric, most := range map[string]float64{
		"hongbao_claims_settled_at_close_total": 1,
		"hongbao_claims_quarantined_total":      servers, // each counts the claim that it put aside, and all may do so at once
	} {
		sum := 0.0
		for _, s := range f.cluster.Servers {
			sum += s.Metric(metric)
		}
		if sum < 1 || sum > most {
			t.Errorf("%s is %v over all servers, want 1 to %v", metric, sum, most)
		}
	}
	f.cluster.Front().MustBalance()
}

// TestStandbyThatLackedNothing promotes a standby that had received all commits. Nothing changes: no client loses its
// socket, and the packets stay open.
func TestStandbyThatLackedNothing(t *testing.T) {
	enginetest.Nightly(t, "whole")
	f := newFailover(t)
	r := openRoom(t, f.cluster.Servers...)
	lost := r.before()
	r.after(lost)
	f.catchUp()

	f.failOver()
	r.say(9)
	r.grab(r.clients[2], lost.open)
	r.mustAgree()
	mustHaveEpochs(t, f.cluster, 0)
	for _, c := range r.clients {
		if connected, _ := c.Connections(); connected != 1 || c.Renumberings() != 0 {
			t.Errorf("%s was connected %d times and loaded the room anew %d times, want once and never", c.User.Name, connected, c.Renumberings())
		}
	}
	f.cluster.Front().MustBalance()
}

// TestStandbyWhileNothingWasNoted promotes a standby that lacked commits, while all servers and Redis are stopped and Redis has
// lost its data. The servers that start then cannot know what is missing, so they begin a new epoch.
func TestStandbyWhileNothingWasNoted(t *testing.T) {
	enginetest.Nightly(t, "whole")
	f := newFailover(t)
	r := openRoom(t, f.cluster.Servers...)
	lost := r.before()
	f.catchUp()
	e2e.NoError(t, f.standby.Detach(t.Context()))
	r.after(lost)

	for _, s := range f.cluster.Servers {
		s.Kill()
	}
	e2e.NoError(t, e2e.RedisClient(t, f.cluster.Redis).FlushAll(t.Context()).Err())
	f.failOver()
	for i, s := range f.cluster.Servers {
		f.cluster.Servers[i] = s.Restart()
	}
	r.awaitRenumbering()
	r.say(9)
	r.mustNotReuse(lost)
	r.mustRefund(lost.open, lost.first)
	r.mustAgree()
	f.cluster.Front().MustBalance()
}

// TestTailCutUnderServers deletes the newest entries of a room by hand, so that the same server answers without them. The first
// text after that finds that the newest link of its chain is gone.
func TestTailCutUnderServers(t *testing.T) {
	enginetest.Nightly(t, "whole")
	postgres := storetest.Postgres(t)
	database, err := postgres.NewDatabase(t.Context())
	e2e.NoError(t, err)
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), database, nil, nil)
	r := openRoom(t, cluster.Servers...)
	r.say(6)
	r.last()
	run(t, nil, postgresProgram(t, "psql"), database, "-v", "ON_ERROR_STOP=1", "-1",
		"-c", "delete from links where id >= (select min(link) from entries where seq > 3)",
		"-c", "delete from entries where seq > 3", "-c", "delete from requests where seq > 3",
		"-c", "update rooms set last_seq = 3, content_no = 3", "-c", "update members set read_seq = least(read_seq, 3)")
	r.say(1)
	e2e.Eventually(t, 5*time.Second, "a new epoch begins at once", func() bool { return cluster.Servers[0].Metric("hongbao_epoch_changes_total") == 1 })
	r.awaitRenumbering()
	r.say(5)
	r.mustAgree()
	mustHaveEpochs(t, cluster, 1)
	cluster.Front().MustBalance()
}

// failover is servers over a primary and its standby.
type failover struct {
	t                *testing.T
	primary, standby *loopback.Postgres
	cluster          *e2e.Cluster
}

func newFailover(t *testing.T) *failover {
	t.Helper()
	f := &failover{t: t, primary: storetest.Postgres(t)}
	database, err := f.primary.NewDatabase(t.Context())
	e2e.NoError(t, err)
	f.standby, err = f.primary.StartStandby(t.Context(), t.TempDir())
	e2e.NoError(t, err)
	t.Cleanup(f.standby.Stop)
	u, err := url.Parse(database)
	e2e.NoError(t, err)
	u.Host = f.primary.Addr() + "," + f.standby.Addr()
	f.cluster = e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), u.String(), nil, nil)
	return f
}

func (f *failover) catchUp() {
	f.t.Helper()
	e2e.NoError(f.t, f.standby.CatchUp(f.t.Context(), f.primary))
}

// failOver kills the primary and promotes the standby.
func (f *failover) failOver() {
	f.t.Helper()
	f.primary.Kill()
	e2e.NoError(f.t, f.standby.Promote(f.t.Context()))
}

// awaitQuarantine waits until the claim on the packet that was lost is in quarantine.
func awaitQuarantine(t *testing.T, s *e2e.Server) {
	t.Helper()
	e2e.Eventually(t, 30*time.Second, "the claim on a packet that is lost is in quarantine", func() bool { return s.Audit().Quarantined == 1 })
}

// mustHaveEpochs fails the test unless each server has seen this number of new epochs.
func mustHaveEpochs(t *testing.T, cluster *e2e.Cluster, want float64) {
	t.Helper()
	for _, s := range cluster.Servers {
		if n := s.Metric("hongbao_epoch_changes_total"); n != want {
			t.Errorf("%s: hongbao_epoch_changes_total is %v, want %v", s.URL, n, want)
		}
	}
}
