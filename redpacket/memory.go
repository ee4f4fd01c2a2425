package redpacket

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"hongbao/chat"
)

// memory caches the part of packets that never changes, and the final state of finished ones. So grabs of a cached finished
// packet reach neither Pool nor SQL. Its estimated size in bytes is bounded, but the packet added last always stays. A packet
// that was dropped is read from SQL again when it is needed.
type memory struct {
	seed   maphash.Seed
	shards [memoryShards]memoryShard
	budget int // bytes per shard
}

const memoryShards = 64

type memoryShard struct {
	mu      sync.RWMutex
	packets map[string]*cachedPacket
	used    int // bytes
}

// cachedPacket is one cached packet.
type cachedPacket struct {
	packet   Packet
	final    atomic.Pointer[finalState] // nil: the packet is not known to have ended
	learning atomic.Bool                // true while a goroutine reads the final state from SQL
	timed    atomic.Bool                // of a draw: this instance draws it at its cutoff
	drawing  atomic.Bool                // of a draw: a try of drawAtCutoff runs
	stall    stall                      // detects that the packet's claims cannot be settled
	cost     int                        // estimated bytes; guarded by the mu of the packet's shard
	claimed  int                        // shares that are taken at least, as this instance knows it; guarded by progress.mu
}

// finalState is how a packet has ended: its outcome for new grabs, and its winners.
type finalState struct {
	outcome Outcome // for users that have no share
	claimed int
	winners map[string]prize
}

// prize is what a user has won: in a rain, all shares together.
type prize struct {
	amount Money
	share  int // the first
	at     time.Time
}

func newMemory(bytes int) *memory {
	m := &memory{seed: maphash.MakeSeed(), budget: max(1, bytes/memoryShards)}
	for i := range m.shards {
		m.shards[i].packets = map[string]*cachedPacket{}
	}
	return m
}

func (m *memory) shard(packet string) *memoryShard {
	return &m.shards[maphash.String(m.seed, packet)%memoryShards]
}

func (m *memory) get(packet string) *cachedPacket {
	sh := m.shard(packet)
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	return sh.packets[packet]
}

// put caches a packet and returns its cache entry. If the packet is cached already, put returns the existing entry.
func (m *memory) put(p Packet) *cachedPacket {
	sh := m.shard(p.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k := sh.packets[p.ID]; k != nil {
		return k
	}
	k := &cachedPacket{packet: p, cost: 512 + len(p.Greeting) + 64*len(p.To)}
	sh.packets[p.ID] = k
	sh.used += k.cost
	sh.forget(k, m.budget)
	return k
}

// finish caches the final state of a packet.
func (m *memory) finish(b Book) *cachedPacket {
	k := m.put(b.Packet)
	e := &finalState{outcome: finishedOutcome(b.Status), claimed: len(b.Claims), winners: make(map[string]prize, len(b.Claims))}
	for _, c := range b.Claims {
		won, again := e.winners[c.User.ID]
		if !again { // in another wave of a rain
			won = prize{share: c.Share, at: c.At}
		}
		won.amount += c.Amount
		e.winners[c.User.ID] = won
	}
	sh := m.shard(b.Packet.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k.final.Swap(e) == nil && sh.packets[b.Packet.ID] == k {
		more := 128 * len(b.Claims)
		k.cost += more
		sh.used += more
		sh.forget(k, m.budget)
	}
	return k
}

// forget drops arbitrary packets until the shard is within its budget. It never drops the packet newest.
func (sh *memoryShard) forget(newest *cachedPacket, budget int) {
	for id, k := range sh.packets {
		if sh.used <= budget {
			return
		}
		if k != newest {
			delete(sh.packets, id)
			sh.used -= k.cost
		}
	}
}

// dropOf drops the packets of a sender.
func (m *memory) dropOf(sender string) {
	for i := range m.shards {
		sh := &m.shards[i]
		sh.mu.Lock()
		for id, k := range sh.packets {
			if k.packet.From.ID == sender {
				delete(sh.packets, id)
				sh.used -= k.cost
			}
		}
		sh.mu.Unlock()
	}
}

// clear drops all packets.
func (m *memory) clear() {
	for i := range m.shards {
		sh := &m.shards[i]
		sh.mu.Lock()
		clear(sh.packets)
		sh.used = 0
		sh.mu.Unlock()
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

// recentSet holds the ids that were added most recently. When it is full, it drops the older half of them. If keep is set, it drops an id
// between keep and twice keep after it was added.
type recentSet struct {
	keep time.Duration // static; 0: ids are dropped only when the set is full

	mu     sync.Mutex
	now    map[string]struct{} // guarded by mu
	old    map[string]struct{} // guarded by mu
	turned time.Time           // guarded by mu; when now was begun
}

// generation is half of a recentSet's capacity, in ids.
const generation = 10_000

func (r *recentSet) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	_, inNow := r.now[id]
	_, inOld := r.old[id]
	return inNow || inOld
}

func (r *recentSet) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	if r.now == nil || len(r.now) >= generation {
		r.turn()
	}
	r.now[id] = struct{}{}
}

// expire drops the ids that are older than keep allows. The caller holds mu.
func (r *recentSet) expire() {
	if r.keep == 0 || r.now == nil {
		return
	}
	switch age := time.Since(r.turned); {
	case age >= 2*r.keep:
		r.now, r.old = nil, nil
	case age >= r.keep:
		r.turn()
	}
}

// turn begins a new half and drops the older one. The caller holds mu.
func (r *recentSet) turn() { r.now, r.old, r.turned = map[string]struct{}{}, r.now, time.Now() }

// clear drops all ids.
func (r *recentSet) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.old = nil, nil
}

// images reads the images of packets from SQL. It merges concurrent reads of one packet's image into one read, and bounds how many
// such reads run at the same time. It protects SQL after a Pool has lost all data, when very many packets are joined again.
type images struct {
	ledger Ledger
	reads  singleflight.Group
	slots  chan struct{}
}

const imagesAtOnce = 16

func newImages(l Ledger) *images { return &images{ledger: l, slots: make(chan struct{}, imagesAtOnce)} }

// read returns Ledger.Image, at the latest when ctx ends. Several callers may share one read, so the read continues when the context
// of one caller ends.
func (i *images) read(ctx context.Context, packet string) (Image, error) {
	read := i.reads.DoChan(packet, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedTimeout)
		defer cancel()
		select {
		case i.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, lateImage(ctx)
		}
		defer func() { <-i.slots }()
		return i.ledger.Image(ctx, packet)
	})
	select {
	case r := <-read:
		if r.Err != nil {
			return Image{}, r.Err
		}
		return r.Val.(Image), nil
	case <-ctx.Done():
		return Image{}, lateImage(ctx)
	}
}

func lateImage(ctx context.Context) error {
	return fmt.Errorf("%w: the packet was not read in time: %w", chat.ErrUnavailable, ctx.Err())
}
