package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"hongbao/chat"
)

// comes enters a socket and checks whether Enter reports it as the user's first.
func (b *presenceBench) comes(p chat.Presence, user, socket string, want bool) {
	b.Helper()
	_, first, err := p.Enter(context.Background(), user, socket, 9)
	noError(b, err)
	if first != want {
		b.Errorf("%s of %s is the first: %v, want %v", socket, user, first, want)
	}
}

// goes calls Leave for a socket and checks whether it is reported as the user's last.
func (b *presenceBench) goes(p chat.Presence, user, socket string, want bool) {
	b.Helper()
	last, err := p.Leave(context.Background(), user, socket)
	noError(b, err)
	if last != want {
		b.Errorf("%s of %s was the last: %v, want %v", socket, user, last, want)
	}
}

func presenceFirstAndLast(b *presenceBench) {
	b.goes(b.A, "u", "1", false)
	b.comes(b.A, "u", "1", true)
	b.comes(b.A, "u", "1", false)
	b.comes(b.B, "u", "1", false)
	b.comes(b.B, "u", "2", false)
	b.comes(b.A, "other", "3", true)
	b.goes(b.A, "u", "unknown", false)
	b.goes(b.A, "u", "1", false)
	b.goes(b.A, "u", "1", false)
	b.goes(b.B, "u", "unknown", false)
	b.goes(b.B, "u", "2", true)
	b.goes(b.B, "u", "2", false)
	b.comes(b.B, "u", "4", true)

	b.comes(b.A, "pushed", "1", true)
	b.enters(b.B, "pushed", "2", 1, "1")
	b.goes(b.A, "pushed", "1", false)
	b.goes(b.B, "pushed", "2", true)
}

// presenceOneFirst enters many sockets of a user concurrently, and then removes them. Exactly one Enter may report
// the first socket, and exactly one Leave the last.
func presenceOneFirst(b *presenceBench) {
	const sockets = 40
	each := func(do func(p chat.Presence, socket string) (bool, error)) (told int64) {
		var n atomic.Int64
		var all sync.WaitGroup
		for i := range sockets {
			p := []chat.Presence{b.A, b.B}[i%2]
			all.Go(func() {
				yes, err := do(p, fmt.Sprint("s", i))
				if err != nil {
					b.Error(err)
				}
				if yes {
					n.Add(1)
				}
			})
		}
		all.Wait()
		return n.Load()
	}
	firsts := each(func(p chat.Presence, socket string) (bool, error) {
		_, first, err := p.Enter(context.Background(), "u", socket, sockets)
		return first, err
	})
	lasts := each(func(p chat.Presence, socket string) (bool, error) { return p.Leave(context.Background(), "u", socket) })
	if firsts != 1 || lasts != 1 {
		b.Errorf("%d came first and %d went last, want one each", firsts, lasts)
	}
}
