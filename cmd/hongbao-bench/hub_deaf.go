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

// playDeaf speaks to the audience at an even pace, with one more socket that reads nothing and without it, and compares how
// long the slowest hundredth of the others' messages takes. The rate of a round is one over that time.
func playDeaf(ctx context.Context, e *engines, a *audience) (measure.Result, error) {
	return e.match(ctx, measure.Match{
		Name: fmt.Sprintf("p99 among %d sockets", len(a.conns)), Unit: "1/p99", Asked: measure.Asked{AtLeast: 1 / 1.2},
		Ours: measure.Side{Name: "one more is deaf", Ready: func(ctx context.Context, _ int) (measure.Play, error) {
			d, err := a.joinDeaf(ctx)
			return func(ctx context.Context) (measure.Round, error) {
				r, err := a.speak(ctx, e.budget)
				return r, errors.Join(err, d.leave())
			}, err
		}},
		Peer: measure.Side{Name: "all read", Ready: func(context.Context, int) (measure.Play, error) {
			return func(ctx context.Context) (measure.Round, error) { return a.speak(ctx, e.budget) }, nil
		}},
	})
}

// deaf is a client that reads nothing.
type deaf struct{ theirs *websocket.Conn }

// joinDeaf adds one, whose system buffers hold little, so that it is the hub's to deal with it.
func (a *audience) joinDeaf(ctx context.Context) (deaf, error) {
	theirs, answer, err := websocket.DefaultDialer.DialContext(ctx, a.url, nil)
	if err != nil {
		return deaf{}, err
	}
	ours, err := a.accept()
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return deaf{}, err
	}
	for _, conn := range []net.Conn{ours.NetConn(), theirs.NetConn()} {
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			return deaf{}, errors.New("no TCP")
		}
		if err := errors.Join(tcp.SetReadBuffer(4<<10), tcp.SetWriteBuffer(4<<10)); err != nil {
			return deaf{}, err
		}
	}
	a.attach(ours)
	return deaf{theirs}, nil
}

func (d deaf) leave() error { return d.theirs.Close() }

// speak sends a message at each tick for as long as the budget lasts, each with the time at which it was due: who is late
// pays for it.
func (a *audience) speak(ctx context.Context, budget time.Duration) (measure.Round, error) {
	payload, err := a.start(order{Size: pacePayload, Timed: true})
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
