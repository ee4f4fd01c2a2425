package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Asker is a socket that asks one thing over and over, the next time when it is answered.
type Asker struct {
	socket  socket
	request []byte
	want    string // outcome
	answer  []byte // as it came first
}

const askedID = 7

// Ask has all of them ask for as long as the budget lasts, and counts the answers. One that is another than it should be
// ends it.
func Ask(ctx context.Context, askers []*Asker, budget time.Duration) (answers int, took time.Duration, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var sum atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for _, a := range askers {
		all.Go(func() {
			mine := int64(0)
			for ctx.Err() == nil && time.Since(begin) < budget {
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

// ask once.
func (a *Asker) ask() (g grabbed, err error) {
	if err := a.socket.send(a.request); err != nil {
		return g, err
	}
	for answered := false; !answered && err == nil; {
		err = a.socket.receive(func(l line) error {
			switch {
			case l.kind == ping:
				return a.socket.send([]byte("{}"))
			case l.kind == refused:
				return fmt.Errorf("refused: %s", l.refusal.word)
			case l.kind != reply || l.id != askedID:
				return nil
			}
			answered = true
			if a.answer == nil {
				a.answer = fmt.Appendf(nil, `{"id":%d,"rpc":{"data":%s}}`, askedID, l.data)
			}
			var ok bool
			if g, ok = readGrabbed(l.data); !ok {
				return fmt.Errorf("no answer to a grab: %s", l.data)
			}
			return nil
		})
	}
	return g, err
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
		all = append(all, &Asker{socket: s, request: a.answer, want: a.want})
	}
	return all, nil
}
