package main

import (
	"context"
	"fmt"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
)

// schemesMatch is a match of two schemes that make the same grabs on the same servers, as compare makes them.
type schemesMatch struct {
	name                     string
	callers, packets, shares int
	asked                    float64
}

// playPool measures grabs that the pool and lua-list decide in Redis. Neither stores anything in SQL. The pool also
// acknowledges its claims meanwhile; the peer's list of claimed shares only grows during a round.
func playPool(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	return e.playSchemes(ctx, s, oursPool(s.log), luaListAlone(), []schemesMatch{
		{"hot packet, 1 caller", 1, 1, e.size.hot, 0.9},
		{"hot packet, 20 callers", 20, 1, e.size.hot, 2},
		{"hot packet, 200 callers", 200, 1, e.size.hot, 4},
		{fmt.Sprintf("%d packets, 200 callers", e.size.packets), 200, e.size.packets, 100, 2},
	})
}

// playGrab measures grabs that are decided, committed with fsync and then answered: by the service over Redis and
// Postgres, and by article 3's row lock, one transaction a grab. With many packets, few grabs wait for the same row.
func playGrab(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	pessimistic, err := choose("pessimistic", schemes.All(), func(n schemes.Named) string { return n.Name })
	if err != nil {
		return nil, err
	}
	return e.playSchemes(ctx, s, oursService(s.log), pessimistic[0], []schemesMatch{
		{"hot packet, committed, 200 callers", 200, 1, e.size.hot, 15},
		{fmt.Sprintf("%d packets, committed, 200 callers", e.size.packets), 200, e.size.packets, 100, 2},
	})
}

// luaListAlone is article 2's script in Redis alone, as the article measured it.
func luaListAlone() schemes.Named {
	return schemes.Named{Name: "lua-list, Redis alone", Make: func(e schemes.Engines) (schemes.Scheme, error) {
		return schemes.NewLuaList(e.Redis, nil), nil
	}}
}

func (e *engines) playSchemes(ctx context.Context, s *testbed, ours, peer schemes.Named, matches []schemesMatch) ([]measure.Result, error) {
	all, err := startServers(ctx, s, peerConnections)
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, m := range matches {
		r, err := e.match(ctx, measure.Match{
			Name: m.name, Unit: "grabs", Asked: measure.Asked{AtLeast: m.asked}, Ours: m.side(e, all, ours), Peer: m.side(e, all, peer),
		})
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// side is the side of a scheme. Each round begins with an emptied Redis and a new database. A round fails if a check of its
// result fails.
func (m schemesMatch) side(e *engines, all *servers, scheme schemes.Named) measure.Side {
	c := contest{compare: defaultCompare(), scheme: scheme, servers: all}
	c.callers, c.packets, c.shares, c.budget = m.callers, m.packets, m.shares, e.budget
	c.say = func(string, ...any) {}
	return measure.Side{Name: scheme.Name, Ready: func(ctx context.Context, _ int) (measure.Play, error) {
		all.callers = m.callers
		w := c.workload()
		process, _, packets, err := c.begin(ctx, w)
		return func(ctx context.Context) (measure.Round, error) {
			before := all.cpuTime()
			o, _, err := c.run(ctx, w, process, packets)
			used := all.cpuTime() - before
			for _, check := range o.Verdicts {
				if err == nil && !check.Held {
					err = fmt.Errorf("%s: %s", check.Name, check.Detail)
				}
			}
			return measure.Round{Done: o.Won, Took: o.took, CPU: used}, err
		}, err
	}}
}
