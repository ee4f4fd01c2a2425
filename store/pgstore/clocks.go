package pgstore

import (
	"context"
	"fmt"
	"time"

	"hongbao/redpacket"
	"hongbao/store/tables"
)

// Clocks implements redpacket.Ledger.
func (s *Store) Clocks(ctx context.Context, now func() time.Time) ([]redpacket.ClockDifference, error) {
	all := make([]redpacket.ClockDifference, 1)
	err := s.withReader(ctx, func(r reader) (err error) {
		config := r.conn.Config()
		all[0], err = redpacket.CompareClock(fmt.Sprintf("Postgres at %s:%d", config.Host, config.Port), now, func() (at time.Time, err error) {
			_, err = r.Row(`select clock_timestamp()`, nil, &at)
			return at, err
		})
		return err
	})
	if err != nil {
		return nil, tables.Outcome("read the clock", err)
	}
	return all, nil
}
