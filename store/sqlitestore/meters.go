package sqlitestore

import (
	"database/sql"

	"hongbao/redpacket/meter"
)

// Meters returns what the store measures.
func (s *Store) Meters() meter.Engines {
	return meter.Engines{
		Work:        []meter.Work{s.commits.Work("sqlite", "commits", len(s.jobs))},
		Connections: []meter.Connections{connections("read", s.read.Stats()), connections("write", s.write.Stats())},
	}
}

func connections(use string, s sql.DBStats) meter.Connections {
	return meter.Connections{
		Engine: "sqlite", Use: use, Open: s.OpenConnections, Idle: s.Idle, Most: s.MaxOpenConnections, Waits: s.WaitCount, Waited: s.WaitDuration,
	}
}
