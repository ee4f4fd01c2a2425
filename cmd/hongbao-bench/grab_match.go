package main

import (
	"context"
	"fmt"

	"hongbao/cmd/hongbao-bench/measure"
)

const grabCallers = 200

// playGrab measures grabs that are decided, committed with fsync and then answered: by the service over Redis and
// Postgres, and by its peers, published ways in Postgres alone. All databases are on one server.
func playGrab(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	pg, err := s.postgres(ctx)
	if err != nil {
		return nil, err
	}
	e.say("filling a room with %d members", e.size.members)
	h, err := newServices(ctx, s, pg, e.size.members)
	if err != nil {
		return nil, err
	}
	hot, many := batch{packets: 8, shares: e.size.members, inTurn: true}, batch{packets: e.size.packets, shares: 100}

	locked, err := s.peerDatabase(ctx, pg)
	if err != nil {
		return nil, err
	}
	if err := locked.MakeTables(ctx); err != nil {
		return nil, err
	}
	first, err := e.match(ctx, measure.Match{
		Name: fmt.Sprintf("hot packet of %d shares, committed, 200 callers", hot.shares), Unit: "grabs", Asked: measure.Asked{AtLeast: 15},
		Ours: h.side(e, hot, "hot"), Peer: pessimisticSide(e, locked, hot.shares),
	})
	if err != nil {
		return nil, err
	}

	single, err := s.peerDatabase(ctx, pg)
	if err != nil {
		return nil, err
	}
	peer, err := singleGrabSide(ctx, e, single, many, h.members)
	if err != nil {
		return nil, err
	}
	second, err := e.match(ctx, measure.Match{
		Name: fmt.Sprintf("%d packets, committed, 200 callers", many.packets), Unit: "grabs", Asked: measure.Asked{AtLeast: 5},
		Ours: h.side(e, many, "many"), Peer: peer,
	})
	if err != nil {
		return nil, err
	}
	return []measure.Result{first, second}, h.audit(ctx)
}

func (h *services) side(e *engines, b batch, name string) measure.Side {
	return measure.Side{Name: "service", Ready: func(ctx context.Context, round int) (measure.Play, error) {
		r, err := h.send(ctx, b, fmt.Sprintf("%s-%d", name, round))
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (measure.Round, error) { return r.play(ctx, e.crowd(grabCallers)) }, nil
	}}
}
