package storetest

import (
	"context"
	"testing"
	"time"

	"hongbao/redpacket"
)

// TestClocks checks the method Clocks of a Pool or a Ledger on this machine: it must return want clocks. The caller's
// clock is shifted in both directions, and the differences must show that.
func TestClocks(t *testing.T, clocks func(ctx context.Context, now func() time.Time) ([]redpacket.ClockDifference, error), want int) {
	for _, shift := range []time.Duration{0, 7 * time.Second, -time.Hour} {
		all, err := clocks(t.Context(), func() time.Time { return time.Now().Add(shift) })
		if err != nil || len(all) != want {
			t.Fatalf("%+v, %v; want %d clocks", all, err, want)
		}
		for i, d := range all {
			const resolution = time.Millisecond
			if off := (d.Ahead + shift).Abs(); off > d.Uncertainty+resolution || d.Uncertainty <= 0 || d.Uncertainty > 3*time.Second {
				t.Errorf("shifted by %v: %+v", shift, d)
			}
			if d.Clock == "" || i > 0 && d.Clock <= all[i-1].Clock {
				t.Errorf("names: %+v", all)
			}
		}
	}
}
