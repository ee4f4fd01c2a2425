package server

import (
	"context"
	"sync"
	"time"

	"hongbao/chat"
)

// maxRunning is how many requests of the keys with one name may run at once on this instance, long polls among them.
const maxRunning = 64

// loads bounds the requests of each key. Two keys of the same name share one bound.
type loads struct {
	mu      sync.Mutex
	running map[string]int // guarded by mu; requests that run, by the key's name
}

// enter counts a request against the rate and the number of running requests of the key's name. Unless enter returns an error,
// the caller must call leave when the request has ended.
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
