package chat

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// cacheShards is the number of shards, each with a lock of its own, so that lookups seldom wait for each other.
const cacheShards = 256

// memberKey is a key of a cache: a user in a room, member or not. With an empty room it stands for the user alone.
type memberKey struct{ room, user string }

// cache keeps a bounded number of values that were read from the Store. It never returns a value that was read before
// the last drop of its key.
//
// A caller that reads a value from the Store first gets the version of the value's shard, and passes it to put
// afterwards. If the value was dropped in between, the version has changed, and put keeps nothing.
type cache[V any] struct {
	// static after newCache
	seed     maphash.Seed
	perShard int

	idle   atomic.Bool   // true: no value is kept
	drops  atomic.Uint64 // counts drops; incremented before a value is dropped
	shards [cacheShards]cacheShard[V]
}

type cacheShard[V any] struct {
	mu      sync.RWMutex
	version uint64
	values  map[uint64]*cached[V] // a value is replaced, never changed
}

type cached[V any] struct {
	key   memberKey
	value V
}

// newCache returns a cache of at most size values, rounded up to a multiple of its shards.
func newCache[V any](size int) *cache[V] {
	c := &cache[V]{seed: maphash.MakeSeed(), perShard: (size + cacheShards - 1) / cacheShards}
	for i := range c.shards {
		c.shards[i].values = map[uint64]*cached[V]{}
	}
	return c
}

// slot returns the shard and the hash of a key. The hash serves as the key in the shard, which is twice as fast as a
// map of memberKeys. Of two keys with the same hash, only the value put last is kept.
func (c *cache[V]) slot(k memberKey) (s *cacheShard[V], hash uint64) {
	hash = maphash.String(c.seed, k.room)*31 + maphash.String(c.seed, k.user)
	return &c.shards[hash%cacheShards], hash
}

// get returns the value of the key. If there is none, it returns the version to pass to put.
func (c *cache[V]) get(k memberKey) (v V, version uint64, ok bool) {
	s, hash := c.slot(k)
	s.mu.RLock()
	held := s.values[hash]
	version = s.version
	s.mu.RUnlock()
	if held == nil || held.key != k || c.idle.Load() {
		return v, version, false
	}
	return held.value, version, true
}

// put keeps the value, unless a value of the shard was dropped since get returned the version. In that case put also
// drops the key: of several changes at the same time, it is unknown which was the last.
func (c *cache[V]) put(k memberKey, v V, version uint64) {
	s, hash := c.slot(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version != version || c.idle.Load() {
		c.dropLocked(s, hash)
		return
	}
	if s.values[hash] == nil && len(s.values) >= c.perShard {
		for other := range s.values { // evict any value of the full shard: it is read again when needed
			delete(s.values, other)
			break
		}
	}
	s.values[hash] = &cached[V]{k, v}
}

// changes returns the number of drops so far, to be passed to putIfUnchanged. It is for callers that read many values
// and do not know their keys beforehand.
func (c *cache[V]) changes() uint64 { return c.drops.Load() }

// putIfUnchanged keeps a value, unless anything was dropped since changes was called. It neither replaces nor evicts a
// value: its value may never be needed, and others are in use.
func (c *cache[V]) putIfUnchanged(k memberKey, v V, changes uint64) {
	s, hash := c.slot(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[hash] == nil && len(s.values) < c.perShard && c.drops.Load() == changes && !c.idle.Load() {
		s.values[hash] = &cached[V]{k, v}
	}
}

// drop removes the key's value, and makes every put with an older version of the shard keep nothing. It returns the
// new version.
func (c *cache[V]) drop(k memberKey) (version uint64) {
	s, hash := c.slot(k)
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

// setIdle removes all values. While idle is true, no value is kept.
func (c *cache[V]) setIdle(idle bool) {
	c.idle.Store(idle)
	c.clear()
}

// clear removes all values, and makes every put with an older version keep nothing.
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
