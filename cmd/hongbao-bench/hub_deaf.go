package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
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
	ours, theirs, err := a.connect(ctx)
	if err != nil {
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
	if err := a.start(); err != nil {
		return measure.Round{}, err
	}
	payload := a.payload(pacePayload)
	begin := time.Now()
	took := make([][]time.Duration, len(a.conns))
	a.show(func(client int, frame []byte) {
		now := time.Since(begin)
		for len(frame) >= pacePayload {
			due, err := strconv.ParseInt(string(frame[1:stampEnd]), 10, 64)
			if err == nil {
				took[client] = append(took[client], now-time.Duration(due))
			}
			frame = frame[min(len(frame), pacePayload+1):]
		}
	})
	defer a.show(nil)
	sent := 0
	for due := time.Duration(0); due < budget; due += pace {
		time.Sleep(due - time.Since(begin))
		message := slices.Clone(payload)
		copy(message[1:stampEnd], fmt.Sprintf("%0*d", stampEnd-1, due))
		if err := a.publish(message); err != nil {
			return measure.Round{}, err
		}
		sent++
	}
	if err := a.await(ctx, sent); err != nil {
		return measure.Round{}, err
	}
	if err := a.heardAll(sent); err != nil {
		return measure.Round{}, err
	}
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	if len(all) != sent*len(a.conns) {
		return measure.Round{}, fmt.Errorf("%d times of %d messages to %d", len(all), sent, len(a.conns))
	}
	return measure.Round{Done: 1, Took: all[len(all)*99/100]}, nil
}

// stampEnd is where the time in a message ends, which begins at its second byte.
const stampEnd = 20
