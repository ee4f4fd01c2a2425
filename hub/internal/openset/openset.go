// Package openset holds open elements, such as connections, which must have ended before Stop returns.
//
// Invariants: the caller of Add closes an element that is added after Stop began. Stop returns only when the set has become
// empty.
package openset

import (
	"maps"
	"slices"
	"sync"
)

// Set holds the open elements.
type Set[T comparable] struct {
	mu      sync.Mutex // guards the fields below
	all     map[T]struct{}
	stopped bool
	empty   chan struct{} // closed when the last element is removed; nil: no goroutine waits for that
}

// Add adds an element, which must be removed when it has ended. It returns false if the set has been stopped: the caller
// must then close the element.
func (s *Set[T]) Add(element T) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[T]struct{}{}
	}
	s.all[element] = struct{}{}
	return !s.stopped
}

// Remove removes an element that has ended.
func (s *Set[T]) Remove(element T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, element)
	if len(s.all) == 0 && s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}

// Count returns the number of elements.
func (s *Set[T]) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// List returns all elements.
func (s *Set[T]) List() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.all))
}

// Resume accepts elements again after Stop.
func (s *Set[T]) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = false
}

// Stop makes Add return false from now on, calls abort for each element, and waits until the set is empty.
func (s *Set[T]) Stop(abort func(T)) {
	s.mu.Lock()
	s.stopped = true
	empty := make(chan struct{})
	s.empty = empty
	if len(s.all) == 0 {
		close(empty)
		s.empty = nil
	}
	s.mu.Unlock()
	for _, element := range s.List() {
		abort(element)
	}
	<-empty
}
