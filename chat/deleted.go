package chat

import (
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// deletedShards is the number of shards. Adding a room copies its shard, so many shards make that cheap.
const deletedShards = 256

// deletedSet holds the rooms that were deleted most recently, at least about as many as it was made for. With it,
// deleting a room needs no search through a hundred thousand cached standings. A deleted room never comes back within an
// epoch, so an element of the set stays right until clear.
type deletedSet struct {
	// static after newDeletedSet
	seed     maphash.Seed
	perShard int // rooms in each generation of a shard

	shards [deletedShards]atomic.Pointer[deletedShard] // nil: none yet
	adding sync.Mutex                                  // held while a shard is replaced
}

// deletedShard is two generations of rooms. It is never changed but replaced, because each lookup of a standing reads
// it without a lock.
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
