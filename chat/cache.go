package chat

import (
	"hash/maphash"
	"sync"
)

// cacheShards keeps those apart who look things up at the same time.
const cacheShards = 256

// cache remembers what the Store has said, a bounded number of things, and is never older than the last
// change that was marked by drop.
//
// Whoever loads a value takes the shard's version before, and gives it to put after. A change of the
// Store that came between has moved the version: then nothing is kept.
type cache[K comparable, V any] struct {
	// static after newCache
	seed     maphash.Seed
	perShard int

	shards [cacheShards]cacheShard[K, V]
}

type cacheShard[K comparable, V any] struct {
	mu      sync.RWMutex
	version uint64
	values  map[K]V
}

// newCache makes a cache of at most size values, rounded up to a multiple of its shards.
func newCache[K comparable, V any](size int) *cache[K, V] {
	c := &cache[K, V]{seed: maphash.MakeSeed(), perShard: (size + cacheShards - 1) / cacheShards}
	for i := range c.shards {
		c.shards[i].values = map[K]V{}
	}
	return c
}

func (c *cache[K, V]) shard(k K) *cacheShard[K, V] {
	return &c.shards[maphash.Comparable(c.seed, k)%cacheShards]
}

// get gives the value, or else the version to put it with.
func (c *cache[K, V]) get(k K) (v V, version uint64, ok bool) {
	s := c.shard(k)
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok = s.values[k]
	return v, s.version, ok
}

// put keeps the value unless something was dropped since the version was taken; then it drops too, for
// nobody can say any more which of several changes was the last.
func (c *cache[K, V]) put(k K, v V, version uint64) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version != version {
		s.dropLocked(k)
		return
	}
	if _, held := s.values[k]; !held && len(s.values) >= c.perShard {
		for other := range s.values { // any will do: who is needed again is loaded again
			delete(s.values, other)
			break
		}
	}
	s.values[k] = v
}

// drop forgets the value, and whatever is being loaded now, and gives the new version.
func (c *cache[K, V]) drop(k K) (version uint64) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropLocked(k)
}

func (s *cacheShard[K, V]) dropLocked(k K) uint64 {
	delete(s.values, k)
	s.version++
	return s.version
}
