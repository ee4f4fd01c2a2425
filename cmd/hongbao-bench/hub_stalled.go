package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/cmd/hongbao-bench/measure"
)

const (
	pacePayload = 1000 // bytes
	pace        = 25 * time.Millisecond
)

// playStalledClient sends messages at an even pace, with and without one more socket whose client does not read. It
// compares the 99th percentile of the time until the other clients have a message. The rate of a round is one divided
// by that time.
func playStalledClient(ctx context.Context, e *engines, a *socketGroup) (measure.Result, error) {
	return e.match(ctx, measure.Match{
		Name: fmt.Sprintf("p99 among %d sockets", len(a.conns)), Unit: "1/p99", Asked: measure.Asked{AtLeast: 1 / 1.2},
		Ours: measure.Side{Name: "one more does not read", Ready: func(ctx context.Context, _ int) (measure.Play, error) {
			d, err := a.addStalledClient(ctx)
			return func(ctx context.Context) (measure.Round, error) {
				r, err := a.sendPaced(ctx, e.budget)
				return r, errors.Join(err, d.leave())
			}, err
		}},
		Peer: measure.Side{Name: "all read", Ready: func(context.Context, int) (measure.Play, error) {
			return func(ctx context.Context) (measure.Round, error) { return a.sendPaced(ctx, e.budget) }, nil
		}},
	})
}

// stalledClient is a client that does not read.
type stalledClient struct{ theirs *websocket.Conn }

// addStalledClient adds a client that does not read. Its system buffers are small, so that the hub soon has to handle
// it.
func (a *socketGroup) addStalledClient(ctx context.Context) (stalledClient, error) {
	theirs, answer, err := websocket.DefaultDialer.DialContext(ctx, a.url, nil)
	if err != nil {
		return stalledClient{}, err
	}
	ours, err := a.accept()
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return stalledClient{}, err
	}
	for _, conn := range []net.Conn{ours.NetConn(), theirs.NetConn()} {
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			return stalledClient{}, errors.New("no TCP")
		}
		if err := errors.Join(tcp.SetReadBuffer(4<<10), tcp.SetWriteBuffer(4<<10)); err != nil {
			return stalledClient{}, err
		}
	}
	a.attach(ours)
	return stalledClient{theirs}, nil
}

func (d stalledClient) leave() error { return d.theirs.Close() }

// sendPaced sends a message at each tick until the time budget is used up. Each message carries the time at which it
// was due, so a late message counts with its delay.
func (a *socketGroup) sendPaced(ctx context.Context, budget time.Duration) (measure.Round, error) {
	payload, err := a.start(countRequest{Size: pacePayload, Timed: true})
	if err != nil {
		return measure.Round{}, err
	}
	begin, sent := time.Now(), 0
	for due := begin; due.Sub(begin) < budget; due = due.Add(pace) {
		time.Sleep(time.Until(due))
		message := slices.Clone(payload)
		putStamp(message, due)
		if err := a.publish(message); err != nil {
			return measure.Round{}, err
		}
		sent++
	}
	r, err := a.finish(ctx, sent)
	if err == nil && r.Times != sent*len(a.conns) {
		err = fmt.Errorf("%d times of %d messages to %d", r.Times, sent, len(a.conns))
	}
	return measure.Round{Done: 1, Took: r.P99}, err
}
