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

// growth has the costs of one kind of operation, for growing amounts of data.
type growth struct {
	Name  string    `json:"name"`
	Costs []float64 `json:"costs"` // microseconds of all parts, one for each of grownTimes
	Worst float64   `json:"worst"` // the highest cost, relative to the smallest amount of data
	Flat  bool      `json:"flat"`
}

// grownTimes are the amounts of data, as multiples of the smallest. A cost counts as the same up to flatWithin times
// that with the smallest amount.
var grownTimes = []int{1, 10, 100}

const (
	flatWithin   = 1.25
	growthRounds = 5
)

// smallestDataset is the first amount of data.
func smallestDataset() load.Size {
	return load.Size{Packets: 20, Rooms: 20, Members: 100, Entries: 500}
}

// grow measures the same operations with each amount of data, one after the other in each round, so that other load of the
// machine affects all of them. Each amount has an installation of its own.
func grow(ctx context.Context, install func() (*installation, error), smallest load.Size, rounds int, effort float64, logf load.Logf) ([]growth, error) {
	var datasets []*load.Dataset
	for _, times := range grownTimes {
		h, err := fill(ctx, install, smallest.Times(times), effort, logf)
		if err != nil {
			return nil, fmt.Errorf("fill an installation: %w", err)
		}
		datasets = append(datasets, h)
	}
	all := []growth{{Name: "grab"}, {Name: "delivery"}, {Name: "connection"}, {Name: "history page"}}
	measured := make([][][]float64, len(all)) // by operation, amount and round
	for i := range all {
		measured[i] = make([][]float64, len(datasets))
	}
	for round := range rounds {
		for n, h := range datasets {
			c, err := h.Measure(ctx, effort)
			if err != nil {
				return nil, err
			}
			logf("round %d of %d, %dx: a grab %v, a delivery %v, a connection %v, a history page %v", round+1, rounds, grownTimes[n], c.Grab, c.Delivery, c.Connection, c.Page)
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

// fill creates the data of a size, and runs every operation once.
func fill(ctx context.Context, install func() (*installation, error), size load.Size, effort float64, logf load.Logf) (*load.Dataset, error) {
	in, err := install()
	if err != nil {
		return nil, err
	}
	logf("filling an installation: %d packets, %d rooms, %d members, %d entries", size.Packets, size.Rooms, size.Members, size.Entries)
	h, err := load.NewDataset(ctx, in.target)
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
	_, _ = fmt.Fprint(t, "cost, µs of all parts\t") // a tabwriter keeps its first error for Flush
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
