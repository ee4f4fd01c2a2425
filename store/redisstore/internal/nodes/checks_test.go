package nodes_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/pool"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

// openChecked returns a client for grabs, the checks of its nodes, a Pool on them, and the log of the checks.
func openChecked(t *testing.T, url string) (redis.UniversalClient, *nodes.Checks, *pool.Pool, *redistest.Log) {
	t.Helper()
	client, log := redistest.Dial(t, url), &redistest.Log{}
	checks := nodes.NewChecks(client, url, log.Logger())
	if err := checks.FirstRound(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		checks.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return client, checks, pool.New(nodes.Set{Client: client, Checks: checks}, pool.Options{}), log
}

// TestNewNodeIsCheckedFirst makes all nodes of a cluster look new. The first grabs start the probe of their nodes and
// are answered after it.
func TestNewNodeIsCheckedFirst(t *testing.T) {
	t.Parallel() // it waits for a cluster
	_, checks, p, log := openChecked(t, storetest.RedisCluster(t).URL())
	nodes.AsNew(checks, "")
	for partition := range redpacket.Partitions {
		if err := redistest.Grab(t, p, partition); err != nil {
			t.Errorf("partition %d: %v", partition, err)
		}
	}
	for _, addr := range nodes.Unchecked(checks) {
		t.Errorf("node %s was not checked", addr)
	}
	if text := log.String(); text != "" {
		t.Errorf("logged %s", text)
	}
}

// TestUnfitNodeOfCluster makes one node of a cluster unfit. That node decides no grab, and the other nodes go on.
func TestUnfitNodeOfCluster(t *testing.T) {
	t.Parallel() // it mostly waits
	cluster := redistest.PartialCluster(t)
	node := cluster.Nodes()[1]
	client, checks, p, log := openChecked(t, cluster.URL())
	unfit, fit := redistest.PartitionsOf(t, client, node.Addr())
	may := func(right string) {
		if err := redistest.Dial(t, node.URL()).Do(t.Context(), "acl", "setuser", "default", right).Err(); err != nil {
			t.Fatal(err)
		}
	}
	may("-info")
	nodes.AsNew(checks, node.Addr())
	for range 2 { // during the first grab the check is running; the second grab meets its result
		if err := redistest.Grab(t, p, unfit[0]); !errors.Is(err, chat.ErrUnavailable) || !strings.Contains(err.Error(), "+info") {
			t.Errorf("a grab: %v", err)
		}
	}
	redistest.Await(t, "an error in the log", func() bool { return strings.Contains(log.String(), "level=ERROR") })
	if err := checks.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), node.Addr()) || !strings.Contains(err.Error(), "+info") {
		t.Errorf("Ready: %v", err)
	}
	for _, partition := range fit {
		if err := redistest.Grab(t, p, partition); err != nil {
			t.Errorf("partition %d: %v", partition, err)
		}
	}
	may("+info")
	for _, partition := range unfit {
		redistest.MustGrabWithin(t, p, partition, 60*time.Second)
	}
}
