package redisstore

import (
	"testing"

	"github.com/redis/go-redis/v9"

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
	client := target.client()
	t.Cleanup(func() { client.Close() })
	return client
}
