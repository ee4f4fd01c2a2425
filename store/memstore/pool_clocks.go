package memstore

import (
	"context"
	"time"

	"hongbao/redpacket"
)

// Clocks implements redpacket.Pool. It returns no clock, because the Pool uses the clock of this process.
func (p *Pool) Clocks(context.Context, func() time.Time) ([]redpacket.ClockDifference, error) {
	return nil, nil
}
