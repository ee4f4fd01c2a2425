package hub

import (
	"hash/maphash"
	"sync"
)

// shardCount spreads the topics over as many locks.
const shardCount = 64

// shard is one part of the topics. The bus is subscribed to a topic exactly as long as it stands in the map.
type shard struct {
	mu     sync.RWMutex
	topics map[string]*topic
}

func (h *Hub) shardOf(name string) *shard {
	return &h.shards[maphash.String(h.seed, name)%shardCount]
}

// lookup finds a topic; nil: nobody listens.
func (h *Hub) lookup(name string) *topic {
	s := h.shardOf(name)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.topics[name]
}

// reach finds a topic and locks it; nil: nobody listens.
func (h *Hub) reach(name string) *topic {
	for {
		t := h.lookup(name)
		if t == nil {
			return nil
		}
		t.mu.Lock()
		if !t.dead.Load() {
			return t
		}
		t.mu.Unlock()
		if h.lookup(name) == t {
			return nil // just left by its last listener, and no one has come since
		}
	}
}

// enter finds or makes a topic and locks it. The caller ends with exit.
func (h *Hub) enter(name string) *topic {
	for {
		t := h.findOrMake(name)
		t.mu.Lock()
		if !t.dead.Load() {
			return t
		}
		t.mu.Unlock()
	}
}

func (h *Hub) findOrMake(name string) *topic {
	s := h.shardOf(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.topics[name]
	if old != nil && !old.dead.Load() {
		return old
	}
	t := &topic{hub: h, name: name, last: unsequenced}
	h.wheels.deal(&t.timer, t)
	s.topics[name] = t
	if old == nil && h.o.Bus != nil {
		h.o.Bus.Subscribe(name)
	}
	return t
}

// exit unlocks a topic, which vanishes if nobody listens any more.
func (h *Hub) exit(t *topic) {
	if len(t.subs) > 0 {
		t.mu.Unlock()
		return
	}
	t.dead.Store(true)
	t.gap = nil
	t.dropRecent()
	t.tellMoved()
	t.timer.disarm()
	t.mu.Unlock()

	s := h.shardOf(t.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topics[t.name] == t {
		delete(s.topics, t.name)
		if h.o.Bus != nil {
			h.o.Bus.Unsubscribe(t.name)
		}
	}
}

// all lists the topics of this moment.
func (h *Hub) all() []*topic {
	var topics []*topic
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.RLock()
		for _, t := range s.topics {
			topics = append(topics, t)
		}
		s.mu.RUnlock()
	}
	return topics
}
