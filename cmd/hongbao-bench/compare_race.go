package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/schemes"
)

// workload returns the workload that the flags ask for.
func (c *compare) workload() workload {
	w := workload{name: "packet", callers: c.callers, packets: c.packets, shares: c.shares, grabbers: c.shares, mean: shareOnAverage, seed: c.seed, ttl: time.Hour}
	if c.hot {
		w.packets, w.shares, w.grabbers = 1, 1000, 20_000
	}
	return w
}

// race runs the same workload on the chosen schemes, one after the other.
func (c *compare) race(ctx context.Context, p *program, s *testbed, result *Comparison) error {
	chosen, err := choose(c.only, contenders(s.log), func(n schemes.Named) string { return n.Name })
	if err != nil {
		return err
	}
	all, err := startServers(ctx, s, c.connections)
	if err != nil {
		return err
	}
	w := c.workload()
	result.Workload = w.String()
	for _, scheme := range chosen {
		outcomes, err := contest{compare: c, scheme: scheme, servers: all}.outcomes(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", scheme.Name, err)
		}
		result.Outcomes = append(result.Outcomes, outcomes...)
	}
	p.say("%d schemes in %v; %s", len(chosen), time.Since(result.Began).Round(time.Second), result.Workload)
	return raceTable(p.stdout, result.Outcomes)
}

// contenders returns the published schemes and ours.
func contenders(log *slog.Logger) []schemes.Named {
	return append(schemes.All(), oursPool(log), oursService(log))
}

func namesOf(all []schemes.Named) (names []string) {
	for _, n := range all {
		names = append(names, n.Name)
	}
	return names
}

// choose returns the items whose names are in the text of --only, separated by commas. It returns all items if the text is empty,
// and an error if a name is unknown.
func choose[T any](only string, all []T, name func(T) string) ([]T, error) {
	if only == "" {
		return all, nil
	}
	var chosen []T
	for wanted := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(t T) bool { return name(t) == wanted })
		if i < 0 {
			return nil, fmt.Errorf("--only: unknown name %q", wanted)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
