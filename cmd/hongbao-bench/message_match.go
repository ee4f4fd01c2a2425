package main

import (
	"context"
	"strconv"

	"hongbao/cmd/hongbao-bench/measure"
)

const (
	messageCallers = 200
	instances      = 3
	aText          = "新年快乐! happy new year to everybody in this room, and may all your packets be lucky ones"
)

// playMessage measures messages into one hot room, committed with fsync and then acknowledged: by three instances on one
// database, and by one transaction a message.
func playMessage(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	pg, err := s.postgres(ctx)
	if err != nil {
		return nil, err
	}
	ours, err := instancesSide(ctx, e, s, pg)
	if err != nil {
		return nil, err
	}
	db, err := s.peerDatabase(ctx, pg)
	if err != nil {
		return nil, err
	}
	peer, err := singleMessageSide(ctx, e, db)
	if err != nil {
		return nil, err
	}
	result, err := e.match(ctx, measure.Match{
		Name: "messages in one room, 200 callers", Unit: "messages", Ours: ours, Peer: peer, Asked: measure.Asked{AtLeast: 5},
	})
	return []measure.Result{result}, err
}

func messageKey(round, i int) string { return "m-" + strconv.Itoa(round) + "-" + strconv.Itoa(i) }
