package load

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Repeater is a socket that sends one grab again and again, each time after the answer to the last one.
type Repeater struct {
	socket  *socket
	request []byte  // a frame
	want    string  // the outcome that every answer must have
	answer  []byte  // the last answer
	decoded grabbed // the last answer, decoded
	message message
}

const repeaterID = 7

// Repeat lets every repeater grab at least once and until the time budget is used up. It returns the number of
// answers, and stops at the first unexpected answer.
func Repeat(ctx context.Context, repeaters []*Repeater, budget time.Duration) (answers int, took time.Duration, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var sum atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for _, a := range repeaters {
		all.Go(func() {
			mine := int64(0)
			for ctx.Err() == nil && (mine == 0 || time.Since(begin) < budget) {
				g, err := a.ask()
				if err == nil && g.outcome != a.want {
					err = fmt.Errorf("answered %+v, not %s", g, a.want)
				}
				if err != nil {
					stop(err)
					break
				}
				mine++
			}
			sum.Add(mine)
		})
	}
	all.Wait()
	return int(sum.Load()), time.Since(begin), context.Cause(ctx)
}

// ask sends one grab and waits for the answer. An answer with the same bytes as the last one is not decoded again.
func (a *Repeater) ask() (g grabbed, err error) {
	if err := a.socket.write(a.request); err != nil {
		return g, err
	}
	for answered := false; !answered && err == nil; {
		err = a.socket.receive(func(text []byte, _ time.Time) (err error) {
			now := bytes.Equal(text, a.answer)
			if !now {
				now, err = a.receive(text)
			}
			answered = answered || now // other messages may follow the answer
			return err
		})
	}
	return a.decoded, err
}

// receive handles a message, which may be the answer.
func (a *Repeater) receive(text []byte) (answer bool, err error) {
	l := &a.message
	switch ok := l.read(text); {
	case !ok:
		return false, fmt.Errorf("not a message: %.200q", text)
	case l.kind == ping:
		return false, a.socket.pong()
	case l.kind == refused:
		return false, fmt.Errorf("refused: %s", l.refusal.word)
	case l.kind != reply || l.id != repeaterID:
		return false, nil
	}
	g, ok := readGrabbed(l.data)
	if !ok {
		return false, fmt.Errorf("not an answer to a grab: %s", l.data)
	}
	a.answer, a.decoded = bytes.Clone(text), g
	return true, nil
}

// Close closes the socket.
func (a *Repeater) Close() error { a.socket.close(); return nil }

// EchoRepeaters returns a repeater at an echo server for each given one. Its request has the same bytes as the answers
// that the given one gets.
func EchoRepeaters(ctx context.Context, url string, like []*Repeater) (all []*Repeater, err error) {
	for _, a := range like {
		s, err := dial(ctx, url)
		if err != nil {
			return all, err
		}
		all = append(all, &Repeater{socket: s, request: framed(a.answer), want: a.want})
	}
	return all, nil
}
