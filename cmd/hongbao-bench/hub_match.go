package main

import (
	"context"
	"fmt"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/hub"
)

const broadcastPayload = 200 // bytes

// playHub measures the broadcast of messages to a thousand sockets: through the hub, and through a peer on the same
// sockets. With one message in flight, the peer is a bare loop that writes ready bytes. With many in flight, the peer
// has a queue for each socket and writes all queued frames in one Write.
//
// The sender runs on one core. The clients are another process, on another core.
func playHub(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	a, err := newSocketGroup(ctx, s, e.size.sockets)
	if err != nil {
		return nil, err
	}
	defer oneCore(ctx, 0)()
	queues := newQueuedWriters(a)
	s.addCleanup(queues.close)
	var results []measure.Result
	for _, asked := range []struct {
		inFlight int
		ratio    float64
		peer     string
		send     func(payload []byte) error
	}{
		{1, 0.9, "bare loop, ready bytes", a.writeEach},
		{16, 0.7, "queued ready frames", queues.send},
		{64, 0.7, "queued ready frames", queues.send},
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
	slow, err := playStalledClient(ctx, e, a)
	return append(results, slow), err
}

func (a *socketGroup) side(name string, inFlight int, budget time.Duration, send func(payload []byte) error) measure.Side {
	return measure.Side{Name: name, Ready: func(context.Context, int) (measure.Play, error) {
		return func(ctx context.Context) (measure.Round, error) { return a.broadcast(ctx, inFlight, budget, send) }, nil
	}}
}

// publish sends a message to the sockets through the hub.
func (a *socketGroup) publish(payload []byte) error {
	a.hub.Publish(groupTopic, hub.Message{Seq: a.seq.Add(1), Data: payload})
	return nil
}

// broadcast sends messages until the time budget is used up. Before it sends message n, it waits until every client has
// received message n-inFlight.
func (a *socketGroup) broadcast(ctx context.Context, inFlight int, budget time.Duration, send func(payload []byte) error) (measure.Round, error) {
	payload, err := a.start(countRequest{Size: broadcastPayload})
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
