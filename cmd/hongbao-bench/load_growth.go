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
	growthRounds = 5
)

// smallestHouse is what is in the house at first.
func smallestHouse() load.Size { return load.Size{Packets: 20, Rooms: 20, Members: 100, Entries: 500} }

// grow measures the same in houses of each size, one after the other in each round: what else the machine does in that minute
// hits all of them. Each house has an installation of its own.
func grow(ctx context.Context, install func() (*installation, error), smallest load.Size, rounds int, effort float64, tell load.Tell) ([]growth, error) {
	var houses []*load.House
	for _, times := range grownTimes {
		h, err := fill(ctx, install, smallest.Times(times), effort, tell)
		if err != nil {
			return nil, fmt.Errorf("fill a house: %w", err)
		}
		houses = append(houses, h)
	}
	all := []growth{{Name: "grab"}, {Name: "delivery"}, {Name: "connection"}, {Name: "history page"}}
	measured := make([][][]float64, len(all)) // of each, in each house, in each round
	for i := range all {
		measured[i] = make([][]float64, len(houses))
	}
	for round := range rounds {
		for n, h := range houses {
			c, err := h.Measure(ctx, effort)
			if err != nil {
				return nil, err
			}
			tell("round %d of %d, %dx: a grab %v, a delivery %v, a connection %v, a history page %v", round+1, rounds, grownTimes[n], c.Grab, c.Delivery, c.Connection, c.Page)
			for i, cost := range []time.Duration{c.Grab, c.Delivery, c.Connection, c.Page} {
				measured[i][n] = append(measured[i][n], float64(cost)/float64(time.Microsecond))
			}
		}
	}
	for i := range all {
		for _, costs := range measured[i] {
			slices.Sort(costs)
			all[i].Costs = append(all[i].Costs, costs[len(costs)/2])
		}
		all[i].judge()
	}
	return all, nil
}

// fill makes a house of a size, in which everything has happened once.
func fill(ctx context.Context, install func() (*installation, error), size load.Size, effort float64, tell load.Tell) (*load.House, error) {
	in, err := install()
	if err != nil {
		return nil, err
	}
	tell("filling a house: %d packets, %d rooms, %d members, %d entries", size.Packets, size.Rooms, size.Members, size.Entries)
	h, err := load.NewHouse(ctx, in.target)
	if err == nil {
		err = h.Grow(ctx, size)
	}
	if err == nil {
		_, err = h.Measure(ctx, effort)
	}
	if err == nil {
		err = in.tidy(ctx)
	}
	return h, err
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
