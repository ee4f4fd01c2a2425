package main

import (
	"context"
	"fmt"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/hub"
)

const broadcastPayload = 200 // bytes

// playHub has one message after another go to a thousand sockets: through the hub, and on the very same sockets, while it is
// silent, by what can hardly be faster. One at a time that is a bare loop which writes ready bytes; with many in flight it
// is a queue for each socket, of which all that waits goes in one Write.
//
// Who sends has one core; the sockets' other ends are another process, and have the other.
func playHub(ctx context.Context, e *engines, s *site) ([]measure.Result, error) {
	a, err := newAudience(ctx, s, e.size.sockets)
	if err != nil {
		return nil, err
	}
	defer oneCore(ctx, 0)()
	queues := newCorked(a)
	s.later(queues.close)
	var results []measure.Result
	for _, asked := range []struct {
		inFlight int
		ratio    float64
		peer     string
		send     func(payload []byte) error
	}{
		{1, 0.9, "bare loop, ready bytes", a.writeEach},
		{16, 0.7, "corked ready frames", queues.send},
		{64, 0.7, "corked ready frames", queues.send},
	} {
		r, err := e.match(ctx, measure.Match{
			Name: fmt.Sprintf("broadcast to %d sockets, %d in flight", e.size.sockets, asked.inFlight), Unit: "deliveries",
			Asked: measure.Asked{AtLeast: asked.ratio},
			Ours:  a.side("hub", asked.inFlight, e.budget, a.publish),
			Peer:  a.side(asked.peer, asked.inFlight, e.budget, asked.send),
		})
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	slow, err := playDeaf(ctx, e, a)
	return append(results, slow), err
}

func (a *audience) side(name string, inFlight int, budget time.Duration, send func(payload []byte) error) measure.Side {
	return measure.Side{Name: name, Ready: func(context.Context, int) (measure.Play, error) {
		return func(ctx context.Context) (measure.Round, error) { return a.broadcast(ctx, inFlight, budget, send) }, nil
	}}
}

// publish sends to all by the hub.
func (a *audience) publish(payload []byte) error {
	a.seq++
	a.hub.Publish(audienceTopic, hub.Message{Seq: a.seq, Data: payload})
	return nil
}

// broadcast sends for as long as the budget lasts: the next message when all but so many of those before it have come to
// everybody.
func (a *audience) broadcast(ctx context.Context, inFlight int, budget time.Duration, send func(payload []byte) error) (measure.Round, error) {
	payload, err := a.start(order{Size: broadcastPayload})
	if err != nil {
		return measure.Round{}, err
	}
	begin, sent := time.Now(), 0
	for time.Since(begin) < budget {
		if err := a.await(ctx, sent-inFlight+1); err != nil {
			return measure.Round{}, err
		}
		if err := send(payload); err != nil {
			return measure.Round{}, err
		}
		sent++
	}
	if err := a.await(ctx, sent); err != nil {
		return measure.Round{}, err
	}
	took := time.Since(begin)
	_, err = a.finish(ctx, sent)
	return measure.Round{Done: sent * len(a.conns), Took: took}, err
}
