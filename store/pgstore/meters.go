package pgstore

import "hongbao/redpacket/meter"

// Meters returns what the store measures. It sends nothing to Postgres.
func (s *Store) Meters() meter.Engines {
	stat := s.pool.Stat()
	return meter.Engines{
		Work: []meter.Work{
			s.entries.Measured("postgres", "entries"), s.claims.Measured("postgres", "claims"), s.standings.Measured("postgres", "standings"),
			s.alone.Work("postgres", "single", len(s.singles)),
		},
		Connections: []meter.Connections{{
			Engine: "postgres", Use: "all", Open: int(stat.TotalConns()), Idle: int(stat.IdleConns()), Most: int(stat.MaxConns()),
			Waits: stat.EmptyAcquireCount(), Waited: stat.EmptyAcquireWaitTime(), Failed: stat.CanceledAcquireCount(),
		}},
	}
}
