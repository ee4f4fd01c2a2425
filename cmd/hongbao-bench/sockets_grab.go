package main

import (
	"context"
	"fmt"
	"time"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/measure"
)

// playWon measures grabs over sockets that are committed with fsync before the answer. The peer is article 2's script
// in Redis, which stores nothing.
func playWon(ctx context.Context, e *engines, s *testbed, in *installation) ([]measure.Result, error) {
	all, err := startServers(ctx, s, peerConnections)
	if err != nil {
		return nil, err
	}
	plan := load.Plan{
		Scenario: "grab", Users: e.size.winners, Shares: e.size.winners, Closed: true, Duration: e.budget,
		Ramp:    time.Duration(e.size.winners) * 2 * time.Millisecond, // long enough that the pushes after the connects are over when the grabs begin
		Packets: 1 + int(40_000*e.budget.Seconds())/e.size.winners,    // more than can be grabbed
	}
	m := schemesMatch{callers: 20, packets: 1, shares: e.size.hot}
	result, err := e.match(ctx, measure.Match{
		Name: fmt.Sprintf("won over %d sockets, committed", plan.Users), Unit: "grabs", Asked: measure.Asked{AtLeast: 0.35},
		Ours: measure.Side{Name: "server", Ready: func(context.Context, int) (measure.Play, error) {
			return func(ctx context.Context) (measure.Round, error) {
				r, err := played(ctx, in, plan)
				return measure.Round{Done: int(r.Of(load.Won).Count), Took: time.Duration(r.Seconds * float64(time.Second))}, err
			}, nil
		}},
		Peer: m.side(e, all, luaListAlone()),
	})
	return []measure.Result{result}, err
}

// played runs a load, and fails if any check failed.
func played(ctx context.Context, in *installation, plan load.Plan) (load.Result, error) {
	r, err := load.Run(ctx, in.target, plan, func(string, ...any) {})
	if err == nil {
		err = (&loaded{Results: []load.Result{r}}).verdict()
	}
	return r, err
}
