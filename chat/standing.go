package chat

import (
	"context"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Standing returns the standing of a user in a room, from the cache if possible. It is exact for every change made by
// this Service. A change made by another instance counts as soon as its notice has arrived (Publisher.StandingChanged,
// Forget), and after standingFor at the latest. In a deleted room any user may get the standing of a former member. That is harmless: Standing.MayRead refuses
// all users of a deleted room.
func (s *Service) Standing(ctx context.Context, room, user string) (Standing, error) {
	st, version, ok := s.standingFromCache(room, user)
	if ok {
		return st, nil
	}
	changes := s.userChanges.of(user).Load()
	until := s.now().Add(standingFor)         // counted from before the read
	if !validRoom(room) || !ValidUser(user) { // other callers share the store's query, which an invalid id could make fail
		return Standing{}, nil
	}
	st, err := s.store.Standing(ctx, room, user)
	if err != nil {
		return Standing{}, err
	}
	if st.Ever { // only standings of present and former members are cached: made-up ids must not evict those of members
		s.standings.put(memberKey{strings.Clone(room), strings.Clone(user)}, heldStanding{st, until, changes}, version)
	}
	return st.At(s.now()), nil
}

// StoredStanding returns the standing as it is stored now, without the cache. Unlike Standing, it is exact for changes
// that another instance has just made. Each call reads from the store.
func (s *Service) StoredStanding(ctx context.Context, room, user string) (Standing, error) {
	st, err := s.store.Standing(ctx, room, user)
	return st.At(s.now()), err
}

// validRoom reports whether room can be the id of a room.
func validRoom(room string) bool { return checkID("room", room) == nil && utf8.ValidString(room) }

// CachedStanding returns the standing if it is cached. It does not block.
func (s *Service) CachedStanding(room, user string) (st Standing, ok bool) {
	st, _, ok = s.standingFromCache(room, user)
	return st, ok
}

// standingFromCache returns the cached standing. If there is none, it returns the version with which to put the
// standing into the cache.
func (s *Service) standingFromCache(room, user string) (st Standing, version uint64, ok bool) {
	if s.deleted.has(room) {
		return Standing{Ever: true, RoomDeleted: true}, 0, true
	}
	held, version, ok := s.standings.get(memberKey{room, user})
	if !ok {
		return Standing{}, version, false
	}
	now := s.now()
	if !now.Before(held.until) || held.changes != s.userChanges.of(user).Load() {
		return Standing{}, version, false
	}
	return held.At(now), version, true
}

// standingFor bounds how long a cached standing is used. A change may be committed after its notices have arrived, and a notice may be
// lost. A member that uses a room costs one more read a minute; one query reads the standings of many members.
const standingFor = time.Minute

// heldStanding is a cached standing.
type heldStanding struct {
	Standing
	until   time.Time // when the store is asked again
	changes uint64    // of the user, when the store was asked
}

// userChanges counts the changes of users, so that all cached standings of a user end at once. Users that share a counter only cost each
// other a read.
type userChanges struct {
	seed   maphash.Seed // static
	counts [1 << 12]atomic.Uint64
}

func (c *userChanges) of(user string) *atomic.Uint64 {
	return &c.counts[maphash.String(c.seed, user)%uint64(len(c.counts))]
}

// Forget drops the user's standing in the room from the cache, because it may have changed. With an empty room it drops
// the user's account and all standings of the user. With an empty user it records that the room was deleted, for all users.
func (s *Service) Forget(room, user string) {
	switch {
	case room == "":
		s.users.drop(memberKey{user: user})
		s.userChanges.of(user).Add(1)
	case user != "":
		s.standings.drop(memberKey{room, user})
	case s.deleted.add(room): // the set of deleted rooms has dropped older rooms, whose standings may still be cached
		s.standings.clear()
	}
}

// SetDisconnected says whether notices of other instances may be lost. While they may be lost, no standing and no user is
// cached. Each call drops those cached before. Deleted rooms stay cached.
func (s *Service) SetDisconnected(lost bool) {
	s.standings.setIdle(lost)
	s.users.setIdle(lost)
}

// mayRead returns an error unless the user may see the room.
func (s *Service) mayRead(ctx context.Context, room, user string) error {
	if err := checkID("room", room); err != nil {
		return err
	}
	if user == System.ID {
		return s.roomExists(ctx, room)
	}
	st, err := s.Standing(ctx, room, user)
	if err != nil {
		return err
	}
	return st.MayRead()
}

// cacheShards is the number of shards, each with a lock of its own, so that lookups seldom wait for each other.
const cacheShards = 256

// memberKey names a user in a room, member or not, in the caches and in typing. With an empty room it stands for the user alone.
type memberKey struct{ room, user string }

// cache keeps a bounded number of values that were read from the Store. It never returns a value that was read before
// the last drop of its key.
//
// A caller that reads a value from the Store first gets the version of the value's shard, and passes it to put
// afterwards. If any value of the shard was dropped in between, the version has changed, and put keeps nothing.
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
// map of memberKeys. Of two keys with the same hash, the cache has the value of one at most.
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

// put keeps the value, unless a value of the shard was dropped since get or drop returned the version. In that case put also
// drops the key's value: after several changes at the same time, the cached value may not be that of the last change.
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

// putIfUnchanged keeps a value, unless anything was dropped since changes was called. It neither replaces nor evicts
// another value: the new one may never be needed, and the others are in use.
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

// deletedShards is the number of shards. Adding a room copies its shard, so many shards make that cheap.
const deletedShards = 256

// deletedSet holds the rooms that were deleted most recently. When full, it keeps between about size and twice size rooms: see
// newDeletedSet. With it, deleting a room needs no search through a hundred thousand cached standings. A deleted room never
// comes back within an epoch, so an element of the set stays right until clear.
type deletedSet struct {
	// static after newDeletedSet
	seed     maphash.Seed
	perShard int // rooms in each generation of a shard

	shards [deletedShards]atomic.Pointer[deletedShard] // nil: none yet
	adding sync.Mutex                                  // held while a shard is replaced
}

// deletedShard has two generations of rooms. A deletedShard is never changed, only replaced, because each lookup of a
// standing reads it without a lock.
type deletedShard struct{ young, old map[string]struct{} }

func newDeletedSet(size int) *deletedSet {
	return &deletedSet{seed: maphash.MakeSeed(), perShard: (size + deletedShards - 1) / deletedShards}
}

func (d *deletedSet) shard(room string) *atomic.Pointer[deletedShard] {
	return &d.shards[maphash.String(d.seed, room)%deletedShards]
}

func (d *deletedSet) has(room string) bool {
	held := d.shard(room).Load()
	if held == nil {
		return false
	}
	_, young := held.young[room]
	_, old := held.old[room]
	return young || old
}

// add adds a room, and reports whether it dropped older rooms to make space.
func (d *deletedSet) add(room string) (forgot bool) {
	d.adding.Lock()
	defer d.adding.Unlock()
	shard := d.shard(room)
	held := shard.Load()
	if held == nil {
		held = &deletedShard{}
	}
	if _, known := held.young[room]; known {
		return false
	}
	next := deletedShard{young: map[string]struct{}{}, old: held.young}
	if len(held.young) < d.perShard {
		maps.Copy(next.young, held.young)
		next.old = held.old
	} else {
		forgot = len(held.old) > 0
	}
	next.young[strings.Clone(room)] = struct{}{}
	shard.Store(&next)
	return forgot
}

// clear removes all rooms.
func (d *deletedSet) clear() {
	d.adding.Lock()
	defer d.adding.Unlock()
	for i := range d.shards {
		d.shards[i].Store(nil)
	}
}
