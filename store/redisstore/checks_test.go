package redisstore

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// lockedLog is a log that may be read while it is written.
type lockedLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// openLogged opens a store and returns it with its log. The test fails if Open fails.
func openLogged(t *testing.T, url string) (*Store, *lockedLog) {
	t.Helper()
	log := &lockedLog{}
	s, err := Open(t.Context(), url, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, log
}

// inPartition returns an open packet of one share.
func inPartition(partition int) redpacket.Image {
	return redpacket.Image{
		Ref: redpacket.Ref{ID: "packet", Partition: partition}, Count: 1, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open,
	}
}

// grabs loads a packet into the partition and makes one grab. It returns the error of either.
func grabs(t *testing.T, s *Store, partition int) error {
	i := inPartition(partition)
	if err := s.Pool().Load(t.Context(), i); err != nil {
		return err
	}
	_, err := s.Pool().Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: "u"}})
	return err
}

// mustRefuse checks that Grab, Load and Close of the Pool are refused within half a second.
func mustRefuse(t *testing.T, s *Store, partition int) {
	t.Helper()
	began := time.Now()
	i := inPartition(partition)
	_, grab := s.Pool().Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: "u"}})
	load := s.Pool().Load(t.Context(), i)
	_, closing := s.Pool().Close(t.Context(), i.Ref, redpacket.CloseDue)
	for _, err := range []error{grab, load, closing} {
		if !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("%v, want unavailable", err)
		}
	}
	if took := time.Since(began); took > 500*time.Millisecond {
		t.Errorf("three calls were refused after %v", took)
	}
}

// mustGrabWithin repeats grabs in the partition until one is answered. It fails the test after the time most.
func mustGrabWithin(t *testing.T, s *Store, partition int, most time.Duration) {
	t.Helper()
	began := time.Now()
	for err := grabs(t, s, partition); err != nil; err = grabs(t, s, partition) {
		if time.Since(began) > most {
			t.Fatalf("after %v: %v", most, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
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
	if err := r.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustGrabWithin(t, s, 1, 5*time.Second)
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	await(t, "the recovery in the log", func() bool { return strings.Contains(log.String(), "checked and used") })
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	proxy.Swallow(true)
	s, log := openLogged(t, "redis://"+proxy.Addr())
	mustRefuse(t, s, 1)
	admin := testClient(t, r.URL())
	replicaOf(t, admin, master)
	proxy.Swallow(false)
	await(t, "an error in the log", func() bool { return strings.Contains(log.String(), "level=ERROR") })
	mustRefuse(t, s, 1)
	notReady(t, s, "is a replica", proxy.Addr())
	if err := admin.SlaveOf(t.Context(), "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	mustGrabWithin(t, s, 1, 5*time.Second)
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d errors:\n%s", n, log)
	}
}

// TestOpenWithoutMaster opens a store while the sentinels run and their master is down. Grabs work once a replica has
// taken over.
func TestOpenWithoutMaster(t *testing.T) {
	t.Parallel() // it mostly waits
	enginetest.Need(t, "Redis")
	sentinels, err := loopback.StartSentinel(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sentinels.Stop)
	sentinels.Master().Kill()
	s, log := openLogged(t, sentinels.URL())
	if !strings.Contains(log.String(), "cannot be reached") {
		t.Errorf("logged %s", log)
	}
	mustRefuse(t, s, 1)
	mustGrabWithin(t, s, 1, 30*time.Second) // grabs work once the replica has taken over
	wrong := strings.TrimSuffix(sentinels.URL(), "/hongbao") + "/nobody"
	if _, err := Open(t.Context(), wrong, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("Open succeeded with a master that no sentinel knows")
	}
}

// partialCluster starts a cluster of three nodes that serves its other slots while a node is down.
func partialCluster(t *testing.T) *loopback.RedisCluster {
	t.Helper()
	enginetest.Need(t, "Redis")
	cluster, err := loopback.StartRedisCluster(t.Context(), t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	for _, node := range cluster.Nodes() {
		if err := testClient(t, node.URL()).ConfigSet(t.Context(), "cluster-require-full-coverage", "no").Err(); err != nil {
			t.Fatal(err)
		}
	}
	return cluster
}

// partitionsOf returns the partitions whose node has this address, and all other partitions.
func partitionsOf(t *testing.T, s *Store, addr string) (there, elsewhere []int) {
	t.Helper()
	for partition := range redpacket.Partitions {
		node, err := s.pool.nodes.of(t.Context(), s.pool.keys(partition).due)
		if err != nil {
			t.Fatal(err)
		}
		if node.Options().Addr == addr {
			there = append(there, partition)
		} else {
			elsewhere = append(elsewhere, partition)
		}
	}
	return there, elsewhere
}

// TestOpenWithoutOneMaster opens a store while one master of the cluster is down. Packets on the other masters can be
// grabbed.
func TestOpenWithoutOneMaster(t *testing.T) {
	t.Parallel() // it mostly waits
	cluster := partialCluster(t)
	node := cluster.Nodes()[1]
	node.Kill()
	s, log := openLogged(t, cluster.URL())
	if !strings.Contains(log.String(), "cannot be reached") || !strings.Contains(log.String(), node.Addr()) {
		t.Errorf("logged %s", log)
	}
	down, up := partitionsOf(t, s, node.Addr())
	for _, partition := range up {
		if err := grabs(t, s, partition); err != nil {
			t.Errorf("partition %d: %v", partition, err)
		}
	}
	mustRefuse(t, s, down[0])
	notReady(t, s, node.Addr())
	if err := node.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, partition := range down {
		mustGrabWithin(t, s, partition, 10*time.Second)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOpenWithoutCluster opens a store while no node of the cluster runs. Calls are refused until the nodes are up.
func TestOpenWithoutCluster(t *testing.T) {
	t.Parallel() // it mostly waits
	cluster := partialCluster(t)
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
		if err := node.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for partition := range redpacket.Partitions {
		mustGrabWithin(t, s, partition, 10*time.Second)
	}
}

// TestNewNodeIsCheckedFirst makes all nodes of a cluster look new. The first grabs start the probe of their nodes and
// are answered after it.
func TestNewNodeIsCheckedFirst(t *testing.T) {
	s, log := openLogged(t, storetest.RedisCluster(t).URL())
	asNew(s, "")
	for partition := range redpacket.Partitions {
		if err := grabs(t, s, partition); err != nil {
			t.Errorf("partition %d: %v", partition, err)
		}
	}
	s.checks.mu.Lock()
	defer s.checks.mu.Unlock()
	for addr, n := range s.checks.nodes {
		if !n.fit.Load() {
			t.Errorf("node %s was not checked", addr)
		}
	}
	if text := log.String(); text != "" {
		t.Errorf("logged %s", text)
	}
}

// asNew makes the node with this address look unchecked; with an empty address, all nodes.
func asNew(s *Store, addr string) {
	s.checks.mu.Lock()
	defer s.checks.mu.Unlock()
	for _, n := range s.checks.nodes {
		if addr == "" || n.addr == addr {
			n.fit.Store(false)
		}
	}
}

// TestUnfitNodeOfCluster makes one node of a cluster unfit. That node decides no grab, and the other nodes go on.
func TestUnfitNodeOfCluster(t *testing.T) {
	t.Parallel() // it mostly waits
	cluster := partialCluster(t)
	node := cluster.Nodes()[1]
	s, log := openLogged(t, cluster.URL())
	unfit, fit := partitionsOf(t, s, node.Addr())
	may := func(right string) {
		if err := testClient(t, node.URL()).Do(t.Context(), "acl", "setuser", "default", right).Err(); err != nil {
			t.Fatal(err)
		}
	}
	may("-info")
	asNew(s, node.Addr())
	for range 2 { // during the first grab the check is running; the second grab meets its result
		if err := grabs(t, s, unfit[0]); !errors.Is(err, chat.ErrUnavailable) || !strings.Contains(err.Error(), "+info") {
			t.Errorf("a grab: %v", err)
		}
	}
	await(t, "an error in the log", func() bool { return strings.Contains(log.String(), "level=ERROR") })
	notReady(t, s, node.Addr(), "+info")
	for _, partition := range fit {
		if err := grabs(t, s, partition); err != nil {
			t.Errorf("partition %d: %v", partition, err)
		}
	}
	may("+info")
	for _, partition := range unfit {
		mustGrabWithin(t, s, partition, 5*time.Second)
	}
}
