package redisstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

func TestClocks(t *testing.T) {
	t.Parallel() // it waits for a cluster
	for _, shape := range []struct {
		url    string
		clocks int
	}{{storetest.SharedRedis(t).URL(), 1}, {storetest.RedisCluster(t).URL(), 3}} {
		s, _ := openLogged(t, shape.url)
		storetest.TestClocks(t, s.Pool().Clocks, shape.clocks)
	}
}

// TestClocksOfLiveMasters kills one master of a cluster. Clocks returns the other masters' clocks, together with an
// error.
func TestClocksOfLiveMasters(t *testing.T) {
	t.Parallel() // it mostly waits
	cluster := redistest.PartialCluster(t)
	node := cluster.Nodes()[1]
	node.Kill()
	s, _ := openLogged(t, cluster.URL())
	all, err := s.Pool().Clocks(t.Context(), time.Now)
	if len(all) != 2 || !errors.Is(err, chat.ErrUnavailable) || !strings.Contains(err.Error(), node.Addr()) {
		t.Errorf("%+v, %v", all, err)
	}
}
