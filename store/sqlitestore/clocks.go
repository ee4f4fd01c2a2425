package sqlitestore

import (
	"context"
	"time"

	"hongbao/redpacket"
)

// Clocks implements redpacket.Ledger. It returns no clock, because SQLite uses the clock of this process.
func (s *Store) Clocks(context.Context, func() time.Time) ([]redpacket.ClockDifference, error) {
	return nil, nil
}
