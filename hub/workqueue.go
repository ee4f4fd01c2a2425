package hub

import "sync"

// workQueue passes items to worker goroutines, which may block on the store.
type workQueue[T any] struct {
	wake chan struct{} // one slot, never closed: there may be items

	mu    sync.Mutex
	items []T // guarded by mu
}

func newWorkQueue[T any]() workQueue[T] {
	return workQueue[T]{wake: make(chan struct{}, 1)}
}

func (q *workQueue[T]) add(item T) {
	q.mu.Lock()
	q.items = append(q.items, item)
	q.mu.Unlock()
	q.ring()
}

// ring wakes one worker.
func (q *workQueue[T]) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take removes and returns up to n items. If items remain, it wakes another worker.
func (q *workQueue[T]) take(n int) []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.items))
	taken := q.items[:n:n]
	q.items = q.items[n:]
	if len(q.items) == 0 {
		q.items = nil
	} else {
		q.ring()
	}
	return taken
}
