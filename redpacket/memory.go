package redpacket

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// memory remembers packets: what never changes of them, and how the finished ones ended, so that late-comers
// reach neither Pool nor SQL. It is bounded in bytes; whatever it forgets is read from SQL again.
type memory struct {
	seed   maphash.Seed
	shards [memoryShards]memoryShard
	budget int // bytes a shard
}

const memoryShards = 64

type memoryShard struct {
	mu    sync.RWMutex
	known map[string]*known
	used  int
}

// known is one packet.
type known struct {
	packet   Packet
	ending   atomic.Pointer[ending] // nil: not known to be finished
	learning atomic.Bool            // somebody asks SQL for the ending
	cost     int                    // guarded by its shard's mu
	claimed  int                    // highest rank settled here; guarded by progress.mu
}

// ending is who got what of a finished packet.
type ending struct {
	outcome Outcome // what those hear who got nothing
	claimed int
	winners map[string]prize
}

type prize struct {
	amount Money
	share  int
	at     time.Time
}

func newMemory(bytes int) *memory {
	m := &memory{seed: maphash.MakeSeed(), budget: max(1, bytes/memoryShards)}
	for i := range m.shards {
		m.shards[i].known = map[string]*known{}
	}
	return m
}

func (m *memory) shard(packet string) *memoryShard {
	return &m.shards[maphash.String(m.seed, packet)%memoryShards]
}

func (m *memory) get(packet string) *known {
	sh := m.shard(packet)
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	return sh.known[packet]
}

// put remembers a packet, unless it is there already.
func (m *memory) put(p Packet) *known {
	sh := m.shard(p.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k := sh.known[p.ID]; k != nil {
		return k
	}
	k := &known{packet: p, cost: 512 + len(p.Greeting) + 64*len(p.To)}
	sh.known[p.ID] = k
	sh.used += k.cost
	sh.forget(k, m.budget)
	return k
}

// finish remembers how a packet ended.
func (m *memory) finish(b Book) *known {
	k := m.put(b.Packet)
	e := &ending{outcome: lateOutcome(b.Status), claimed: len(b.Claims), winners: make(map[string]prize, len(b.Claims))}
	for _, c := range b.Claims {
		e.winners[c.User.ID] = prize{amount: c.Amount, share: c.Share, at: c.At}
	}
	sh := m.shard(b.Packet.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k.ending.Swap(e) == nil && sh.known[b.Packet.ID] == k {
		more := 128 * len(b.Claims)
		k.cost += more
		sh.used += more
		sh.forget(k, m.budget)
	}
	return k
}

// forget makes room by dropping any others than the newest.
func (sh *memoryShard) forget(newest *known, budget int) {
	for id, k := range sh.known {
		if sh.used <= budget {
			return
		}
		if k != newest {
			delete(sh.known, id)
			sh.used -= k.cost
		}
	}
}

func (m *memory) bytes() (n int) {
	for i := range m.shards {
		sh := &m.shards[i]
		sh.mu.RLock()
		n += sh.used
		sh.mu.RUnlock()
	}
	return n
}
