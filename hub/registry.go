package hub

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// shardCount is the number of shards over which the topics are distributed. Each has its own lock.
const shardCount = 64

// registry holds the topics of a hub, by name.
type registry struct {
	// static
	env    *environment
	bus    Bus // nil: there are no other instances
	seed   maphash.Seed
	shards [shardCount]shard
}

// shard holds some of the topics. The bus is subscribed to a topic exactly as long as the topic is in this map.
type shard struct {
	mu     sync.RWMutex
	topics map[string]*topic
}

func (r *registry) init(env *environment, bus Bus) {
	r.env, r.bus, r.seed = env, bus, maphash.MakeSeed()
	for i := range r.shards {
		r.shards[i].topics = map[string]*topic{}
	}
}

func (r *registry) shardOf(name string) *shard {
	return &r.shards[maphash.String(r.seed, name)%shardCount]
}

// lookup returns the topic of that name, or nil if no connection of this instance is subscribed to it.
func (r *registry) lookup(name string) *topic {
	s := r.shardOf(name)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.topics[name]
}

// lock returns the topic of that name, locked, or nil if no connection of this instance is subscribed to it.
func (r *registry) lock(name string) *topic {
	for {
		t := r.lookup(name)
		if t == nil {
			return nil
		}
		t.mu.Lock()
		if !t.dead.Load() {
			return t
		}
		t.mu.Unlock()
		if r.lookup(name) == t {
			return nil // its last subscription has just ended, and no new topic of that name exists yet
		}
	}
}

// lockOrCreate returns the topic of that name, locked. It creates the topic if there is none.
func (r *registry) lockOrCreate(name string) *topic {
	for {
		t := r.findOrCreate(name)
		t.mu.Lock()
		if !t.dead.Load() {
			return t
		}
		t.mu.Unlock()
	}
}

func (r *registry) findOrCreate(name string) *topic {
	s := r.shardOf(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.topics[name]
	if old != nil && !old.dead.Load() {
		return old
	}
	t := &topic{env: r.env, name: name, last: unsequenced}
	r.env.wheels.Assign(&t.timer, t)
	s.topics[name] = t
	if old == nil && r.bus != nil {
		r.bus.Subscribe(name)
	}
	return t
}

// unlock unlocks a topic. If the topic has no subscriptions, it is removed.
func (r *registry) unlock(t *topic) {
	if len(t.subscriptions) > 0 {
		t.mu.Unlock()
		return
	}
	t.die()
	t.mu.Unlock()

	s := r.shardOf(t.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topics[t.name] == t {
		delete(s.topics, t.name)
		if r.bus != nil {
			r.bus.Unsubscribe(t.name)
		}
	}
}

// all returns the topics of all shards.
func (r *registry) all() []*topic {
	var topics []*topic
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.RLock()
		topics = slices.AppendSeq(topics, maps.Values(s.topics))
		s.mu.RUnlock()
	}
	return topics
}

// publish delivers a message to the topic's subscribers on this instance.
func (r *registry) publish(name string, m Message) {
	t := r.lock(name)
	if t == nil {
		return
	}
	ready := t.accept(m)
	subscribers := t.subscribers(ready)
	r.unlock(t)
	signalAll(name, subscribers, ready)
}

// signal passes a signal to the topic's subscribers on this instance. The signal waits for messages that are known to
// exist and have not arrived.
func (r *registry) signal(name string, data []byte) {
	t := r.lock(name)
	if t == nil {
		return
	}
	signals := []heldSignal{{data: data}}
	if t.gap != nil && t.gap.hold(data) {
		signals = nil
	}
	subscribers := t.subscribers(signals)
	t.mu.Unlock()
	signalAll(name, subscribers, signals)
}

// signalAll passes each signal to each subscriber. No lock may be held.
func signalAll(name string, subscribers []Subscriber, signals []heldSignal) {
	for _, signal := range signals {
		for _, s := range subscribers {
			s.signal(name, signal.data)
		}
	}
}
