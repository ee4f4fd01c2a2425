package redisstore

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// openLogged opens a store and returns it with its log. The test fails if Open fails.
func openLogged(t *testing.T, url string) (*Store, *redistest.Log) {
	t.Helper()
	log := &redistest.Log{}
	s, err := Open(t.Context(), url, log.Logger())
	noError(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, log
}

// mustRefuse checks that Grab, Load and Close of the Pool are refused. In make nightly they must be refused within half a second. On a
// busy machine, some of five tries may take longer.
func mustRefuse(t *testing.T, s *Store, partition int) {
	t.Helper()
	i := redistest.InPartition(partition)
	var took time.Duration
	for range 5 {
		began := time.Now()
		_, grab := s.Pool().Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: "u"}})
		load := s.Pool().Load(t.Context(), i)
		_, closing := s.Pool().Close(t.Context(), i.Ref, redpacket.CloseDue)
		took = time.Since(began)
		for _, err := range []error{grab, load, closing} {
			if !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("%v, want unavailable", err)
			}
		}
		if took <= 500*time.Millisecond || !enginetest.Tonight("waits") {
			return
		}
	}
	t.Errorf("three calls were refused after %v, five times", took)
}

// notReady checks that Ready fails and that its error contains each of the given texts.
func notReady(t *testing.T, s *Store, why ...string) {
	t.Helper()
	err := s.Ready(t.Context())
	for _, word := range why {
		if !errors.Is(err, chat.ErrUnavailable) || !strings.Contains(err.Error(), word) {
			t.Errorf("Ready: %v, want %q", err, word)
		}
	}
}

// TestOpenWithoutRedis opens a store while Redis is down. The Pool refuses its calls, and works once Redis is up.
func TestOpenWithoutRedis(t *testing.T) {
	r := storetest.Redis(t)
	r.Kill()
	s, log := openLogged(t, strings.Replace(r.URL(), "redis://", "redis://:secret@", 1))
	mustRefuse(t, s, 1)
	notReady(t, s, r.Addr(), "connection refused", "chat works, grabs answer unavailable")
	if text := log.String(); !strings.Contains(text, "cannot be reached") || !strings.Contains(text, r.Addr()) || strings.Contains(text, "secret") {
		t.Errorf("logged %s", text)
	}
	noError(t, r.Restart(t.Context()))
	redistest.MustGrabWithin(t, s.Pool(), 1, 60*time.Second)
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	redistest.Await(t, "the recovery in the log", func() bool { return strings.Contains(log.String(), "checked and used") })
	if warnings, lines := strings.Count(log.String(), "level=WARN"), strings.Count(log.String(), "\n"); warnings != 1 || lines != 2 {
		t.Errorf("logged %s", log)
	}
}

// TestUnfitAfterSilence opens a store while Redis is silent. When Redis answers, it turns out to be unfit, and must
// not decide any grab.
func TestUnfitAfterSilence(t *testing.T) {
	t.Parallel() // it waits for checks
	r, master := storetest.Redis(t), storetest.Redis(t)
	proxy, err := loopback.StartProxy(r.Addr())
	noError(t, err)
	t.Cleanup(proxy.Close)
	proxy.Swallow(true)
	s, log := openLogged(t, "redis://"+proxy.Addr())
	mustRefuse(t, s, 1)
	admin := redistest.Dial(t, r.URL())
	redistest.ReplicaOf(t, admin, master)
	proxy.Swallow(false)
	redistest.Await(t, "an error in the log", func() bool { return strings.Contains(log.String(), "level=ERROR") })
	mustRefuse(t, s, 1)
	notReady(t, s, "is a replica", proxy.Addr())
	noError(t, admin.SlaveOf(t.Context(), "no", "one").Err())
	redistest.MustGrabWithin(t, s.Pool(), 1, 60*time.Second)
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d errors:\n%s", n, log)
	}
}

// TestOpenWithoutMaster opens a store while the sentinels run and their master is down. Grabs work once a replica has
// taken over.
func TestOpenWithoutMaster(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel() // it mostly waits
	enginetest.Need(t, "Redis")
	sentinels, err := loopback.StartSentinel(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(sentinels.Stop)
	sentinels.Replica().Pause() // so that it takes over only after the checks
	sentinels.Master().Kill()
	s, log := openLogged(t, sentinels.URL())
	if !strings.Contains(log.String(), "cannot be reached") {
		t.Errorf("logged %s", log)
	}
	mustRefuse(t, s, 1)
	sentinels.Replica().Resume()
	redistest.MustGrabWithin(t, s.Pool(), 1, 60*time.Second) // grabs work once the replica has taken over
}

// TestOpenThroughSentinels opens a store by the addresses of the sentinels alone.
func TestOpenThroughSentinels(t *testing.T) {
	t.Parallel() // it waits until the sentinels know each other
	enginetest.Need(t, "Redis")
	sentinels, err := loopback.StartSentinel(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(sentinels.Stop)
	s, log := openLogged(t, sentinels.URL())
	redistest.MustGrabWithin(t, s.Pool(), 1, 60*time.Second)
	if text := log.String(); text != "" {
		t.Errorf("logged %s", text)
	}
	wrong := strings.TrimSuffix(sentinels.URL(), "/hongbao") + "/nobody"
	if _, err := Open(t.Context(), wrong, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("Open succeeded with a master that no sentinel knows")
	}
}

// TestOpenWithoutOneMaster opens a store while one master of the cluster is down. Packets on the other masters can be
// grabbed.
func TestOpenWithoutOneMaster(t *testing.T) {
	t.Parallel() // it mostly waits
	cluster := redistest.PartialCluster(t)
	node := cluster.Nodes()[1]
	node.Kill()
	s, log := openLogged(t, cluster.URL())
	if !strings.Contains(log.String(), "cannot be reached") || !strings.Contains(log.String(), node.Addr()) {
		t.Errorf("logged %s", log)
	}
	down, up := redistest.PartitionsOf(t, s.grabs, node.Addr())
	for _, partition := range up {
		if err := redistest.Grab(t, s.Pool(), partition); err != nil {
			t.Errorf("partition %d: %v", partition, err)
		}
	}
	mustRefuse(t, s, down[0])
	notReady(t, s, node.Addr())
	noError(t, node.Restart(t.Context()))
	for _, partition := range down {
		redistest.MustGrabWithin(t, s.Pool(), partition, 60*time.Second)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOpenWithoutCluster opens a store while no node of the cluster runs. Calls are refused until the nodes are up.
func TestOpenWithoutCluster(t *testing.T) {
	t.Parallel() // it mostly waits
	cluster := redistest.PartialCluster(t)
	for _, node := range cluster.Nodes() {
		node.Kill()
	}
	s, log := openLogged(t, cluster.URL())
	if !strings.Contains(log.String(), "cannot be reached") {
		t.Errorf("logged %s", log)
	}
	mustRefuse(t, s, 1)
	notReady(t, s, "Redis Cluster", "connection refused")
	for _, node := range cluster.Nodes() {
		noError(t, node.Restart(t.Context()))
	}
	for partition := range redpacket.Partitions {
		redistest.MustGrabWithin(t, s.Pool(), partition, 60*time.Second)
	}
}
