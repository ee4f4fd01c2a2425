// Package work passes items to worker goroutines.
//
// Invariants: Add and Ring never block. While there are items, a worker that waits for Wake is woken.
package work

import "sync"

// Queue is a queue of items that several workers take from. It has no bound of its own.
type Queue[T any] struct {
	Wake chan struct{} // receives a value when there may be items; one slot, never closed

	mu    sync.Mutex
	items []T // guarded by mu
}

// NewQueue returns an empty queue.
func NewQueue[T any]() Queue[T] {
	return Queue[T]{Wake: make(chan struct{}, 1)}
}

// Add adds an item and wakes a worker.
func (q *Queue[T]) Add(item T) {
	q.mu.Lock()
	q.items = append(q.items, item)
	q.mu.Unlock()
	q.Ring()
}

// Ring wakes one worker.
func (q *Queue[T]) Ring() {
	select {
	case q.Wake <- struct{}{}:
	default:
	}
}

// Take removes and returns up to n items. If items remain, it wakes another worker.
func (q *Queue[T]) Take(n int) []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.items))
	taken := q.items[:n:n]
	q.items = q.items[n:]
	if len(q.items) == 0 {
		q.items = nil
	} else {
		q.Ring()
	}
	return taken
}
