package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/store/storetest"
)

const testOutboxCap = 60

// TestPool holds the Pool to its contract: on one server and in a cluster, with a time that tests move.
func TestPool(t *testing.T) {
	t.Run("standalone", func(t *testing.T) { testFrozen(t, storetest.Redis(t).URL()) })
	t.Run("cluster", func(t *testing.T) { testFrozen(t, storetest.RedisCluster(t).URL()) })
}

func testFrozen(t *testing.T, url string) {
	storetest.TestPool(t, func(t *testing.T) storetest.PoolUnderTest {
		f := freeze(t, testClient(t, url), testOutboxCap)
		return storetest.PoolUnderTest{
			Pool: f, OutboxCap: testOutboxCap, Now: f.Now, Advance: f.Advance,
			Forget: f.Forget, NewGeneration: f.NewGeneration,
		}
	})
}

// TestPoolByTheClock runs the scripts as they are: time passes by itself.
func TestPoolByTheClock(t *testing.T) {
	t.Parallel()
	url := storetest.Redis(t).URL()
	storetest.TestPool(t, func(t *testing.T) storetest.PoolUnderTest {
		client := testClient(t, url)
		forget(t, client)
		return storetest.PoolUnderTest{
			Pool: newPool(client, poolOptions{OutboxCap: testOutboxCap}), OutboxCap: testOutboxCap,
			Forget: func() { forget(t, client) }, NewGeneration: func() { newGeneration(t, client) },
		}
	})
}

// testClient is a client as Open makes it.
func testClient(t testing.TB, url string) redis.UniversalClient {
	t.Helper()
	target, err := parse(url)
	if err != nil {
		t.Fatal(err)
	}
	client := target.grabsClient()
	t.Cleanup(func() { client.Close() })
	return client
}

// TestPoolTables: what will hold many claims is a table from the beginning, and comes back from its end as any other.
func TestPoolTables(t *testing.T) {
	client := testClient(t, storetest.Redis(t).URL())
	p := newPool(client, poolOptions{})
	for count, table := range map[int]bool{128: false, 129: true} {
		r := redpacket.Ref{ID: "packet", Partition: count % redpacket.Partitions}
		image := redpacket.Image{Ref: r, Count: count, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
		for range 2 { // the second time it is there
			if err := p.Load(t.Context(), image); err != nil {
				t.Fatal(err)
			}
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
		closed, err := p.Close(t.Context(), r, false)
		if err != nil || len(closed.Grants) != count {
			t.Errorf("%d of %d grants, %v", len(closed.Grants), count, err)
		}
	}
}

// TestPoolKeys: a partition's keys are there from the first load on, whatever they hold: a slot with half of them has moved
// half. The outbox is a table from the beginning.
func TestPoolKeys(t *testing.T) {
	client := testClient(t, storetest.Redis(t).URL())
	p := newPool(client, poolOptions{})
	image := redpacket.Image{Ref: redpacket.Ref{ID: "p", Partition: 7}, Count: 2, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	k := p.keys(7)
	there := func(when string) {
		t.Helper()
		if n, encoding := client.Exists(t.Context(), k.due, k.out, k.held).Val(), client.ObjectEncoding(t.Context(), k.out).Val(); n != 3 || encoding != "skiplist" {
			t.Errorf("%s: %d keys of 3, the outbox is a %s", when, n, encoding)
		}
	}
	if err := p.Load(t.Context(), image); err != nil {
		t.Fatal(err)
	}
	there("empty")
	if err := p.Ack(t.Context(), grabAll(t, p, image, "a", "b")); err != nil {
		t.Fatal(err)
	}
	image.Status = redpacket.Drained
	if err := p.Load(t.Context(), image); err != nil {
		t.Fatal(err)
	}
	there("when all is over")
}
