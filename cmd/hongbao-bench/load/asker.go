package load

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Asker is a socket that asks one thing over and over, the next time when it is answered.
type Asker struct {
	socket  *socket
	request []byte  // a frame
	want    string  // outcome
	answer  []byte  // as it came last
	told    grabbed // what it says
	line    line
}

const askedID = 7

// Ask has all of them ask for as long as the budget lasts, each at least once, and counts the answers. One that is another
// than it should be ends it.
func Ask(ctx context.Context, askers []*Asker, budget time.Duration) (answers int, took time.Duration, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var sum atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for _, a := range askers {
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

// ask once. An answer that is the same as the last one says the same.
func (a *Asker) ask() (g grabbed, err error) {
	if err := a.socket.write(a.request); err != nil {
		return g, err
	}
	for answered := false; !answered && err == nil; {
		err = a.socket.receive(func(text []byte, _ time.Time) (err error) {
			now := bytes.Equal(text, a.answer)
			if !now {
				now, err = a.hear(text)
			}
			answered = answered || now // something else may come behind it
			return err
		})
	}
	return a.told, err
}

// hear takes a message; it may be the answer.
func (a *Asker) hear(text []byte) (answer bool, err error) {
	l := &a.line
	switch ok := l.read(text); {
	case !ok:
		return false, fmt.Errorf("no message: %.200q", text)
	case l.kind == ping:
		return false, a.socket.pong()
	case l.kind == refused:
		return false, fmt.Errorf("refused: %s", l.refusal.word)
	case l.kind != reply || l.id != askedID:
		return false, nil
	}
	g, ok := readGrabbed(l.data)
	if !ok {
		return false, fmt.Errorf("no answer to a grab: %s", l.data)
	}
	a.answer, a.told = bytes.Clone(text), g
	return true, nil
}

// Close gives the socket up.
func (a *Asker) Close() error { a.socket.close(); return nil }

// Echoed are as many askers at a server that only echoes; what they send it is the answer that the others get.
func Echoed(ctx context.Context, url string, like []*Asker) (all []*Asker, err error) {
	for _, a := range like {
		s, err := dial(ctx, url)
		if err != nil {
			return all, err
		}
		all = append(all, &Asker{socket: s, request: framed(a.answer), want: a.want})
	}
	return all, nil
}
