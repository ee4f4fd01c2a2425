package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"hongbao/cmd/hongbao-bench/load"
)

// TestGrowth measures very small amounts of data.
func TestGrowth(t *testing.T) {
	in := smallInstallation(t)
	install := func() (*installation, error) { return in, nil }
	all, err := grow(t.Context(), install, load.Size{Packets: 1, Rooms: 1, Members: 1, Entries: 2}, 1, 1, t.Logf) // with less, a part may use less than a tick of /proc
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := growthTable(&out, all); err != nil || len(all) != 4 {
		t.Errorf("%+v, %v", all, err)
	}
	for _, g := range all {
		if len(g.Costs) != len(grownTimes) || slices.Min(g.Costs) <= 0 || !strings.Contains(out.String(), g.Name) {
			t.Errorf("%+v\n%s", g, out.String())
		}
	}
	if page, err := (&loaded{Growth: all}).page(); err != nil || !bytes.Contains(page, []byte("Cost with growing data")) {
		t.Errorf("the page: %v", err)
	}
	for worst, flat := range map[float64]bool{1.2: true, 1.3: false} {
		g := growth{Costs: []float64{10, 9, 10 * worst}}
		if g.judge(); g.Flat != flat {
			t.Errorf("%+v", g)
		}
	}
}
