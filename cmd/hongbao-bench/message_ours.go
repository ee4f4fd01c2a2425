package main

import (
	"context"

	"hongbao/chat"
	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/store/loopback"
)

// instancesSide sends through three services, each with a store of its own and without a bus.
func instancesSide(ctx context.Context, e *engines, s *testbed, pg *loopback.Postgres) (measure.Side, error) {
	url, err := pg.NewDatabase(ctx)
	if err != nil {
		return measure.Side{}, err
	}
	var rooms [instances]*chat.Service
	for i := range rooms {
		store, err := s.pgStore(ctx, url)
		if err != nil {
			return measure.Side{}, err
		}
		service := chat.New(store, discardPublisher{}, chat.Options{Log: s.log})
		s.addCleanup(func() error { service.Stop(); return nil })
		rooms[i] = service
	}
	members := newUsers(messageCallers)
	room, err := newFullRoom(ctx, rooms[0], members)
	if err != nil {
		return measure.Side{}, err
	}
	return measure.Side{Name: "3 instances", Ready: func(ctx context.Context, round int) (measure.Play, error) {
		last, err := rooms[0].LastSeqs(ctx, []string{room})
		log := newSeqLog(last[room])
		return func(ctx context.Context) (measure.Round, error) {
			played, err := e.crowd(messageCallers).Call(ctx, func(ctx context.Context, i int) (bool, error) {
				if i >= mostMessages {
					return false, nil
				}
				r, err := rooms[i%instances].Send(ctx, members[i%messageCallers], chat.Message{Room: room, Key: messageKey(round, i), Text: aText})
				if err != nil {
					return true, err
				}
				return true, log.note(r.Seq)
			})
			if err != nil {
				return played, err
			}
			last, err := rooms[0].LastSeqs(ctx, []string{room})
			if err != nil {
				return played, err
			}
			return played, log.check(played.Done, last[room])
		}, err
	}}, nil
}
