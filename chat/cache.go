package chat

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// cacheShards keeps those apart who look things up at the same time.
const cacheShards = 256

// seat is a user's place in a room, taken or not; without a room it is the user himself.
type seat struct{ room, user string }

// cache remembers what the Store has said of seats, a bounded number of them, and is never older than the
// last change that was marked by drop.
//
// Whoever loads a value takes the shard's version before, and gives it to put after. A change of the
// Store that came between has moved the version: then nothing is kept.
type cache[V any] struct {
	// static after newCache
	seed     maphash.Seed
	perShard int

	idle   atomic.Bool   // nothing is kept
	drops  atomic.Uint64 // moves before anything is forgotten
	shards [cacheShards]cacheShard[V]
}

type cacheShard[V any] struct {
	mu      sync.RWMutex
	version uint64
	values  map[uint64]*cached[V] // never changed, only replaced
}

type cached[V any] struct {
	seat  seat
	value V
}

// newCache makes a cache of at most size values, rounded up to a multiple of its shards.
func newCache[V any](size int) *cache[V] {
	c := &cache[V]{seed: maphash.MakeSeed(), perShard: (size + cacheShards - 1) / cacheShards}
	for i := range c.shards {
		c.shards[i].values = map[uint64]*cached[V]{}
	}
	return c
}

// place is where a seat is kept. One hash serves for the shard and within it, which is twice as quick as a
// map of seats; of two seats with the same hash the later one stays.
func (c *cache[V]) place(k seat) (s *cacheShard[V], hash uint64) {
	hash = maphash.String(c.seed, k.room)*31 + maphash.String(c.seed, k.user)
	return &c.shards[hash%cacheShards], hash
}

// get gives the value, or else the version to put it with.
func (c *cache[V]) get(k seat) (v V, version uint64, ok bool) {
	s, hash := c.place(k)
	s.mu.RLock()
	held := s.values[hash]
	version = s.version
	s.mu.RUnlock()
	if held == nil || held.seat != k || c.idle.Load() {
		return v, version, false
	}
	return held.value, version, true
}

// put keeps the value unless something was dropped since the version was taken; then it drops too, for
// nobody can say any more which of several changes was the last.
func (c *cache[V]) put(k seat, v V, version uint64) {
	s, hash := c.place(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version != version || c.idle.Load() {
		c.dropLocked(s, hash)
		return
	}
	if s.values[hash] == nil && len(s.values) >= c.perShard {
		for other := range s.values { // any will do: who is needed again is loaded again
			delete(s.values, other)
			break
		}
	}
	s.values[hash] = &cached[V]{k, v}
}

// changes is what to give to foresee: how many there have been. Who loads many values does not know before whose they are.
func (c *cache[V]) changes() uint64 { return c.drops.Load() }

// foresee puts a value if there is room, unless it is there, or anything was dropped since the changes were counted: who may
// be asked for pushes nobody out who is.
func (c *cache[V]) foresee(k seat, v V, changes uint64) {
	s, hash := c.place(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[hash] == nil && len(s.values) < c.perShard && c.drops.Load() == changes && !c.idle.Load() {
		s.values[hash] = &cached[V]{k, v}
	}
}

// drop forgets the value, and whatever is being loaded now, and gives the new version.
func (c *cache[V]) drop(k seat) (version uint64) {
	s, hash := c.place(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.dropLocked(s, hash)
}

func (c *cache[V]) dropLocked(s *cacheShard[V], hash uint64) uint64 {
	c.drops.Add(1)
	delete(s.values, hash)
	s.version++
	return s.version
}

// rest forgets everything; while idle nothing is kept.
func (c *cache[V]) rest(idle bool) {
	c.idle.Store(idle)
	c.clear()
}

// clear forgets everything, and whatever is being loaded now.
func (c *cache[V]) clear() {
	c.drops.Add(1)
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		clear(s.values)
		s.version++
		s.mu.Unlock()
	}
}
