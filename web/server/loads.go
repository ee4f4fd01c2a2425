package server

import (
	"context"
	"sync"
	"time"

	"hongbao/chat"
)

// maxRunning is how many requests of a key may run at once on this instance, long polls among them.
const maxRunning = 64

// loads bounds the requests of each key.
type loads struct {
	mu      sync.Mutex
	running map[string]int // guarded by mu; requests that run, by the key's name
}

// enter counts a request of the key against its rate and its number of running requests. Unless enter returns an error, the
// caller must call leave when the request has ended.
func (l *loads) enter(ctx context.Context, limiter chat.Limiter, k Key) (leave func(), err error) {
	wait, err := limiter.Take(ctx, "api-key:"+k.Name, k.Rate)
	switch {
	case err != nil:
		return nil, err
	case wait > 0:
		return nil, &chat.RateError{After: wait}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[k.Name] >= maxRunning {
		return nil, &chat.RateError{After: time.Second}
	}
	l.running[k.Name]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.running[k.Name]--; l.running[k.Name] == 0 {
			delete(l.running, k.Name)
		}
	}, nil
}
