package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/hub"
)

const broadcastPayload = 200 // bytes

// playHub has one message after another go to a thousand sockets: through the hub, and by the loop over WriteMessage that
// one would write at first, on the very same sockets while the hub is silent.
func playHub(ctx context.Context, e *engines, s *site) ([]measure.Result, error) {
	a, err := newAudience(ctx, s, e.size.sockets)
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, asked := range []struct {
		inFlight int
		ratio    float64
	}{{1, 0.85}, {16, 8}, {64, 12}} {
		r, err := e.match(ctx, measure.Match{
			Name: fmt.Sprintf("broadcast to %d sockets, %d in flight", e.size.sockets, asked.inFlight), Unit: "deliveries",
			Asked: measure.Asked{AtLeast: asked.ratio},
			Ours:  a.side("hub", asked.inFlight, e.budget, a.publish),
			Peer:  a.side("WriteMessage loop", asked.inFlight, e.budget, a.writeEach),
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

// writeEach sends to one after the other.
func (a *audience) writeEach(payload []byte) error {
	for _, ws := range a.conns {
		if err := ws.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			return err
		}
		if err := ws.WriteMessage(websocket.TextMessage, payload); err != nil {
			return err
		}
	}
	return nil
}

// broadcast sends for as long as the budget lasts: the next message when all but so many of those before it have come to
// everybody.
func (a *audience) broadcast(ctx context.Context, inFlight int, budget time.Duration, send func(payload []byte) error) (measure.Round, error) {
	payload := a.payload(broadcastPayload)
	if err := a.start(); err != nil {
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
	return measure.Round{Done: sent * len(a.conns), Took: time.Since(begin)}, a.heardAll(sent)
}
