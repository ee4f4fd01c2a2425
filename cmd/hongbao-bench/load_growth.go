package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

// growth is what one thing costs in ever larger houses.
type growth struct {
	Name  string    `json:"name"`
	Costs []float64 `json:"costs"` // microseconds of all parts, one for each of grownTimes
	Worst float64   `json:"worst"` // the dearest, to that in the smallest house
	Flat  bool      `json:"flat"`
}

// grownTimes is how large the houses are, and flatWithin what still counts as the same cost.
var grownTimes = []int{1, 10, 100}

const (
	flatWithin   = 1.25
	growthRounds = 3
)

// smallestHouse is what is in the house at first.
func smallestHouse() load.Size { return load.Size{Packets: 20, Rooms: 20, Members: 100, Entries: 500} }

// grow measures the same in houses of each size.
func grow(ctx context.Context, target *load.Target, smallest load.Size, rounds int, tell load.Tell) ([]growth, error) {
	h, err := load.NewHouse(ctx, target)
	if err != nil {
		return nil, err
	}
	all := []growth{{Name: "grab"}, {Name: "delivery"}, {Name: "connection"}, {Name: "history page"}}
	for _, times := range grownTimes {
		size := smallest.Times(times)
		tell("filling the house: %d packets, %d rooms, %d members, %d entries", size.Packets, size.Rooms, size.Members, size.Entries)
		if err := h.Grow(ctx, size); err != nil {
			return nil, fmt.Errorf("fill the house: %w", err)
		}
		measured := make([][]float64, len(all))
		for range rounds {
			c, err := h.Measure(ctx)
			if err != nil {
				return nil, err
			}
			for i, cost := range []time.Duration{c.Grab, c.Delivery, c.Connection, c.Page} {
				measured[i] = append(measured[i], float64(cost)/float64(time.Microsecond))
			}
		}
		for i := range all {
			slices.Sort(measured[i])
			all[i].Costs = append(all[i].Costs, measured[i][rounds/2])
		}
	}
	for i := range all {
		all[i].judge()
	}
	return all, nil
}

func (g *growth) judge() {
	g.Worst = slices.Max(g.Costs) / g.Costs[0]
	g.Flat = g.Worst <= flatWithin
}

func growthTable(w io.Writer, all []growth) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(t, "cost, µs of all parts\t") // it keeps its first error for Flush
	for _, times := range grownTimes {
		_, _ = fmt.Fprintf(t, "%dx\t", times)
	}
	_, _ = fmt.Fprint(t, "worst\tasked\t\n")
	for _, g := range all {
		_, _ = fmt.Fprintf(t, "%s\t", g.Name)
		for _, cost := range g.Costs {
			_, _ = fmt.Fprintf(t, "%.1f\t", cost)
		}
		verdict := "flat"
		if !g.Flat {
			verdict = "NOT FLAT"
		}
		_, _ = fmt.Fprintf(t, "%.2f\t<= %.2f\t%s\n", g.Worst, flatWithin, verdict)
	}
	return t.Flush()
}
