package storetest

import (
	"fmt"
	"net"
	"os"
	"testing"
)

// TestMain runs the tests through Main, and then checks that no shared server runs and no folder is left.
func TestMain(m *testing.M) {
	code := Main(m)
	if servers.redis.server != nil {
		if c, err := net.Dial("tcp", servers.redis.server.Addr()); err == nil {
			fmt.Println("the shared Redis outlived the tests", c.Close())
			code = 1
		}
		if _, err := os.Stat(servers.redis.dir); err == nil {
			fmt.Println("a shared server's folder outlived the tests:", servers.redis.dir)
			code = 1
		}
	}
	os.Exit(code)
}

func TestServersAreSharedOrPrivate(t *testing.T) {
	if SharedRedis(t) != SharedRedis(t) {
		t.Error("two shared servers")
	}
	private := Redis(t)
	if private == SharedRedis(t) || private == Redis(t) {
		t.Error("a private server is shared")
	}
	if one, other := Database(t), Database(t); one == other {
		t.Error("two tests get one database")
	}
	if n := len(RedisCluster(t).Nodes()); n != 3 {
		t.Errorf("the cluster has %d nodes", n)
	}
}

func TestPrivateServersEndWithTheirTest(t *testing.T) {
	var addr string
	t.Run("test", func(t *testing.T) { addr = Redis(t).Addr() })
	if c, err := net.Dial("tcp", addr); err == nil {
		t.Error("it lives on", c.Close())
	}
}
