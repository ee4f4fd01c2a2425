package pgstore

import "hongbao/redpacket/meter"

// Meters returns what the store measures. It sends nothing to Postgres.
func (s *Store) Meters() meter.Engines {
	stat := s.pool.all.Stat()
	return meter.Engines{
		Work: []meter.Work{
			s.entries.meters("entries"), s.claims.meters("claims"), s.standings.meters("standings"),
			s.alone.Work("postgres", "single", len(s.singles)),
		},
		Connections: []meter.Connections{{
			Engine: "postgres", Use: "all", Open: int(stat.TotalConns()), Idle: int(stat.IdleConns()), Most: int(stat.MaxConns()),
			Waits: stat.EmptyAcquireCount(), Waited: stat.EmptyAcquireWaitTime(), Failed: stat.CanceledAcquireCount(),
		}},
	}
}

// meters returns the figures of the committer. Jobs in lanes count as waiting, too.
func (c *committer[J]) meters(name string) meter.Work {
	waiting := len(c.queue)
	c.lanes.mu.Lock()
	for _, ln := range c.lanes.open {
		waiting += len(ln.waiting) + ln.trying
	}
	c.lanes.mu.Unlock()
	return c.batches.Work("postgres", name, waiting)
}
