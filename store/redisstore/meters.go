package redisstore

import (
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket/meter"
)

// Meters returns what the store measures. It calls no Redis.
func (s *Store) Meters() meter.Engines {
	m := meter.Engines{
		Work: []meter.Work{s.pool.batches.Work("redis", "grabs", s.pool.batchers.waiting())},
		Connections: []meter.Connections{
			connections("grabs", s.grabs.PoolStats()), connections("bus", s.busClient.PoolStats()), connections("rest", s.rest.PoolStats()),
		},
	}
	if s.bus != nil {
		m.Bus = s.bus.meters()
	}
	return m
}

// waiting returns how many attempts and claims are not answered yet, over all nodes.
func (s *batchers) waiting() (n int) {
	s.byAddr.Range(func(_, found any) bool {
		q := found.(*batcher)
		q.mu.Lock()
		defer q.mu.Unlock()
		n += q.waiting
		return true
	})
	return n
}

// connections adds up the driver's two pools: of single commands, and of pipelines.
func connections(use string, s *redis.PoolStats) meter.Connections {
	c := meter.Connections{
		Engine: "redis", Use: use, Open: int(s.TotalConns), Idle: int(s.IdleConns),
		Waits: int64(s.WaitCount), Waited: time.Duration(s.WaitDurationNs), Failed: int64(s.Timeouts),
	}
	if p := s.PipelineStats; p != nil {
		c.Open, c.Idle = c.Open+int(p.TotalConns), c.Idle+int(p.IdleConns)
		c.Waits, c.Waited, c.Failed = c.Waits+int64(p.WaitCount), c.Waited+time.Duration(p.WaitDurationNs), c.Failed+int64(p.Timeouts)
	}
	return c
}

func (b *bus) meters() *meter.Bus {
	m := &meter.Bus{}
	for _, s := range b.shards {
		s.queue.mu.Lock()
		m.Queued, m.QueuedBytes, m.Dropped = m.Queued+s.queue.size.count, m.QueuedBytes+s.queue.size.bytes, m.Dropped+s.queue.dropped
		s.queue.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	m.Peers = len(b.peers)
	return m
}
