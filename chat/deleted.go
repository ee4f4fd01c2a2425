package chat

import (
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// deletedShards keep short what is copied when a room is added.
const deletedShards = 256

// deleted remembers rooms that are no more, about as many as it was made for or more: so that a hundred thousand standings
// need not be looked for when a room goes. Rooms do not come back, so what is remembered is true for ever.
type deleted struct {
	// static after newDeleted
	seed     maphash.Seed
	perShard int // rooms of one generation

	shards [deletedShards]atomic.Pointer[deletedRooms] // nil: none yet
	adding sync.Mutex                                  // held while a shard is replaced
}

// deletedRooms are two generations, never changed, only replaced: every look at a standing asks them.
type deletedRooms struct{ young, old map[string]struct{} }

func newDeleted(size int) *deleted {
	return &deleted{seed: maphash.MakeSeed(), perShard: (size + deletedShards - 1) / deletedShards}
}

func (d *deleted) shard(room string) *atomic.Pointer[deletedRooms] {
	return &d.shards[maphash.String(d.seed, room)%deletedShards]
}

func (d *deleted) has(room string) bool {
	held := d.shard(room).Load()
	if held == nil {
		return false
	}
	_, young := held.young[room]
	_, old := held.old[room]
	return young || old
}

// add tells whether older rooms were forgotten for this one.
func (d *deleted) add(room string) (forgot bool) {
	d.adding.Lock()
	defer d.adding.Unlock()
	shard := d.shard(room)
	held := shard.Load()
	if held == nil {
		held = &deletedRooms{}
	}
	if _, known := held.young[room]; known {
		return false
	}
	next := deletedRooms{young: map[string]struct{}{}, old: held.young}
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
