package web

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/chat"
)

// lobby lets so many connects be worked on at a time: when everybody comes back at once, each is served as quickly as one
// alone, and none so late that its client has given up meanwhile. The others wait in a line; when that is too long, whoever comes
// is sent away before the upgrade. Only connects in hand count, not sockets: silent ones keep nobody out.
type lobby struct {
	// static after newLobby
	places  chan struct{} // holds one for each connect that is being worked on
	longest time.Duration // that the line may be

	waiting atomic.Int64 // connects without a place
	refused atomic.Int64 // sockets sent away before the upgrade

	mu   sync.Mutex
	pace time.Duration // guarded by mu: what a connect takes, the last ones counting most
}

const (
	// connectPlaces is more than either engine works on at once.
	connectPlaces = 32
	// longestLine leaves something of the 5 s after which SDKs give up on a connect.
	longestLine = 3 * time.Second
	// paceWeight is how much of the pace the newest connect is.
	paceWeight = 16
)

func newLobby(places int, longest time.Duration) *lobby {
	return &lobby{places: make(chan struct{}, places), longest: longest}
}

// enter waits for a place; leave gives it back. Nobody waits much longer than the longest line.
func (l *lobby) enter(ctx context.Context) (leave func(), err error) {
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, l.longest+l.longest/3)
	defer cancel()
	select {
	case l.places <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("too many connect at once: %w", chat.ErrUnavailable)
	}
	began := time.Now()
	return func() {
		<-l.places
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pace += (time.Since(began) - l.pace) / paceWeight
	}, nil
}

// crowded tells whether somebody has to wait for a place.
func (l *lobby) crowded() bool { return l.waiting.Load() > 0 }

// full tells whether the line is too long for one more, and when to come back then: not all at the same moment.
func (l *lobby) full() (retry time.Duration, full bool) {
	waiting := l.waiting.Load()
	if waiting == 0 {
		return 0, false
	}
	l.mu.Lock()
	line := time.Duration(waiting) * l.pace / time.Duration(cap(l.places))
	l.mu.Unlock()
	return line + rand.N(line+time.Second), line > l.longest
}
