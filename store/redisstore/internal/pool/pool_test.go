package pool

import (
	"fmt"
	"os"
	"testing"
	"time"

	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.LimitHistories(10)
	os.Exit(redistest.Main(m))
}

const testOutboxCap = 60

// TestPool runs the tests of redpacket.Pool's contract on one server, with a manual clock.
func TestPool(t *testing.T) {
	t.Parallel() // it waits for replies
	testPoolManualClock(t, storetest.Redis(t).URL())
}

// TestPoolCluster runs the tests of redpacket.Pool's contract on a cluster of its own, because they delete all data.
func TestPoolCluster(t *testing.T) {
	t.Parallel()
	cluster, err := loopback.StartRedisCluster(t.Context(), t.TempDir(), 3)
	noError(t, err)
	t.Cleanup(cluster.Stop)
	noError(t, cluster.KeepNodes(t.Context()))
	testPoolManualClock(t, cluster.URL())
}

func testPoolManualClock(t *testing.T, url string) {
	storetest.TestPool(t, func(t *testing.T) storetest.PoolUnderTest {
		f := newManualClockPool(t, redistest.Dial(t, url), testOutboxCap)
		return storetest.PoolUnderTest{
			Pool: f, OutboxCap: testOutboxCap, Now: f.Now, Advance: f.Advance,
			Forget: f.Forget, NewGeneration: f.NewGeneration,
		}
	})
}

// TestPoolByTheClock runs the tests of redpacket.Pool's contract with the unchanged scripts and the real clock.
func TestPoolByTheClock(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	url := storetest.Redis(t).URL()
	storetest.TestPool(t, func(t *testing.T) storetest.PoolUnderTest {
		client := redistest.Dial(t, url)
		forget(t, client)
		return storetest.PoolUnderTest{
			Pool: New(nodes.Set{Client: client}.WithPatience(time.Minute), Options{OutboxCap: testOutboxCap}), OutboxCap: testOutboxCap,
			Forget: func() { forget(t, client) }, NewGeneration: func() { newGeneration(t, client) },
		}
	})
}

// TestPoolReadsTheClockOfRedis uses the unchanged scripts on two packets. The deadline of one has passed, that of the other is an
// hour away. A claim that has just been granted is young.
func TestPoolReadsTheClockOfRedis(t *testing.T) {
	p := New(redistest.Nodes(t, storetest.RedisDatabase(t)), Options{})
	late, open := redistest.InPartition(1), redistest.InPartition(2)
	late.Deadline = time.Now().Add(-time.Second)
	for _, i := range []redpacket.Image{late, open} {
		noError(t, p.Load(t.Context(), i))
		attempt := []redpacket.Attempt{{Ref: i.Ref, User: "u"}}
		want := redpacket.Granted
		if i.Ref == late.Ref {
			want = redpacket.IsLate
		}
		if got, err := p.Grab(t.Context(), attempt); err != nil || got[0].Decision != want {
			t.Errorf("partition %d: %+v, %v", i.Partition, got, err)
		}
	}
	if due, err := p.Due(t.Context(), 10); err != nil || len(due) != 1 || due[0] != late.Ref {
		t.Errorf("due: %v, %v", due, err)
	}
	if closing, err := p.Close(t.Context(), late.Ref, redpacket.CloseDue); err != nil || closing.Reason != redpacket.Expired {
		t.Errorf("close: %+v, %v", closing, err)
	}
	if due, err := p.Due(t.Context(), 10); err != nil || len(due) != 0 {
		t.Errorf("due during the lease: %v, %v", due, err)
	}
	for age, want := range map[time.Duration]int{0: 1, time.Hour: 0} {
		if claims := storetest.Unsettled(t, p, age); len(claims) != want || want > 0 && time.Since(claims[0].At).Abs() > time.Hour {
			t.Errorf("claims of the age %v: %+v", age, claims)
		}
	}
}

// TestPoolTables checks that the image of a packet with over 128 shares is a hash table from the first load on. Close
// returns all its grants.
func TestPoolTables(t *testing.T) {
	client := redistest.Dial(t, storetest.RedisDatabase(t))
	p := New(nodes.Set{Client: client}.WithPatience(time.Minute), Options{})
	for count, table := range map[int]bool{128: false, 129: true} {
		r := redpacket.Ref{ID: "packet", Partition: count % redpacket.Partitions}
		image := redpacket.Image{Ref: r, Count: count, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
		for range 2 { // the second time it exists
			noError(t, p.Load(t.Context(), image))
		}
		if got := client.ObjectEncoding(t.Context(), p.keys(r.Partition).image+r.ID).Val(); (got == "hashtable") != table {
			t.Errorf("an image of %d shares is a %s", count, got)
		}
		attempts := make([]redpacket.Attempt, count)
		for i := range attempts {
			attempts[i] = redpacket.Attempt{Ref: r, User: fmt.Sprint("u", i)}
		}
		if _, err := p.Grab(t.Context(), attempts); err != nil {
			t.Fatal(err)
		}
		closed, err := p.Close(t.Context(), r, redpacket.CloseDue)
		if err != nil || len(closed.Grants) != count {
			t.Errorf("%d of %d grants, %v", len(closed.Grants), count, err)
		}
	}
}

// TestPoolKeys checks that all keys of a partition exist from the first load on: in a slot with missing keys a node
// cannot tell whether they have moved. The outbox is a skiplist from the beginning.
func TestPoolKeys(t *testing.T) {
	client := redistest.Dial(t, storetest.RedisDatabase(t))
	p := New(nodes.Set{Client: client}.WithPatience(time.Minute), Options{})
	image := redpacket.Image{Ref: redpacket.Ref{ID: "p", Partition: 7}, Count: 2, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	k := p.keys(7)
	wantKeys := func(when string) {
		t.Helper()
		if n, encoding := client.Exists(t.Context(), k.due, k.out, k.held).Val(), client.ObjectEncoding(t.Context(), k.out).Val(); n != 3 || encoding != "skiplist" {
			t.Errorf("%s: %d keys of 3, the outbox is a %s", when, n, encoding)
		}
	}
	noError(t, p.Load(t.Context(), image))
	wantKeys("empty")
	noError(t, p.Ack(t.Context(), grabAll(t, p, image, "a", "b")))
	image.Status = redpacket.Drained
	noError(t, p.Load(t.Context(), image))
	wantKeys("closed")
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
