package pgstore

import (
	"context"
	"sync"
)

// turns lets the callers with one key pass one after another. Else many sends of one user would take all connections,
// only to wait there for his row. The zero value is ready.
type turns struct {
	mu   sync.Mutex
	kept map[string]*turn
}

// turn is one key's, kept while somebody wants it.
type turn struct {
	free   chan struct{} // holds one while nobody has the turn
	wanted int
}

// take waits for the caller's turn. Done gives it on.
func (t *turns) take(ctx context.Context, key string) (done func(), err error) {
	mine := t.want(key)
	select {
	case <-mine.free:
		return func() {
			mine.free <- struct{}{}
			t.leave(key, mine)
		}, nil
	case <-ctx.Done():
		t.leave(key, mine)
		return nil, ctx.Err()
	}
}

func (t *turns) want(key string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.kept[key]
	if mine == nil {
		mine = &turn{free: make(chan struct{}, 1)}
		mine.free <- struct{}{}
		if t.kept == nil {
			t.kept = map[string]*turn{}
		}
		t.kept[key] = mine
	}
	mine.wanted++
	return mine
}

func (t *turns) leave(key string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.wanted--; mine.wanted == 0 {
		delete(t.kept, key)
	}
}
