package redisstore

import (
	"slices"
	"sync"

	"hongbao/hub"
)

// The bounds of all outboxes together, and of one round trip.
const (
	outboxLen   = 128 << 10
	outboxBytes = 64 << 20
	batchLen    = 512
	batchBytes  = 1 << 20
)

// load is how much parcels are together.
type load struct{ count, bytes int }

func (l load) exceeds(limit load) bool { return l.count > limit.count || l.bytes > limit.bytes }

func (l load) part(n int) load { return load{l.count / n, l.bytes / n} }

func loadOf(parcels []parcel) load {
	l := load{count: len(parcels)}
	for _, p := range parcels {
		l.bytes += len(p.bytes)
	}
	return l
}

// outbox holds the parcels of a lane, in order, until they are sent. When they become many, only what must be kept
// stays.
type outbox struct {
	// static
	wake  chan struct{} // one slot, never closed
	limit load

	mu      sync.Mutex // guards the following
	parcels []parcel
	load    load
	tidyAt  load
	lost    bool // what must be kept was not: the peers are to be told
}

func newOutbox(lanes int) *outbox {
	limit := load{outboxLen, outboxBytes}.part(lanes)
	return &outbox{wake: make(chan struct{}, 1), limit: limit, tidyAt: limit.part(4)}
}

func (o *outbox) put(topic string, payload []byte, rank hub.Rank) {
	p := newParcel(topic, payload, rank)
	o.mu.Lock()
	o.parcels = append(o.parcels, p)
	o.load = load{o.load.count + 1, o.load.bytes + len(p.bytes)}
	o.boundLocked()
	o.mu.Unlock()
	o.ring()
}

func (o *outbox) ring() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take gives the parcels of one round trip, and rings if some are left.
func (o *outbox) take() []parcel {
	o.mu.Lock()
	defer o.mu.Unlock()
	var taken load
	for taken.count < min(len(o.parcels), batchLen) && taken.bytes < batchBytes {
		taken.bytes += len(o.parcels[taken.count].bytes)
		taken.count++
	}
	parcels := o.parcels[:taken.count:taken.count]
	o.parcels = o.parcels[taken.count:]
	o.load = load{o.load.count - taken.count, o.load.bytes - taken.bytes}
	if len(o.parcels) == 0 {
		o.parcels, o.tidyAt = nil, o.limit.part(4)
	} else {
		o.ring()
	}
	return parcels
}

// back puts parcels that could not be sent in front again. Loose ones would only come late.
func (o *outbox) back(parcels []parcel) {
	parcels = slices.DeleteFunc(parcels, func(p parcel) bool { return p.rank == hub.Loose })
	o.mu.Lock()
	defer o.mu.Unlock()
	o.parcels = append(parcels, o.parcels...)
	o.load = loadOf(o.parcels)
	o.boundLocked()
}

// boundLocked keeps the bounds.
func (o *outbox) boundLocked() {
	if !o.load.exceeds(o.tidyAt) {
		return
	}
	o.setLocked(needed(o.parcels))
	if half := o.limit.part(2); o.load.exceeds(half) {
		o.lost = true
		o.setLocked(slices.DeleteFunc(o.parcels, func(p parcel) bool { return p.rank != hub.Kept }))
		for o.load.exceeds(half) {
			o.setLocked(slices.Clone(o.parcels[(len(o.parcels)+1)/2:])) // the oldest go first
		}
	}
	o.tidyAt = load{max(2*o.load.count, o.limit.count/4), max(2*o.load.bytes, o.limit.bytes/4)}
}

func (o *outbox) setLocked(parcels []parcel) { o.parcels, o.load = parcels, loadOf(parcels) }

// needed leaves out what may be lost: loose parcels, and those after which a higher one of their topic comes, unless
// one that is kept stands between them, for what was published before that must show before it.
func needed(parcels []parcel) []parcel {
	kept := make([]parcel, 0, len(parcels)/2)
	highest := map[string]hub.Rank{} // of a topic's parcels to come, up to the next that is kept
	for _, p := range slices.Backward(parcels) {
		switch {
		case p.rank == hub.Kept:
			delete(highest, p.topic)
		case p.rank <= highest[p.topic]: // loose ones too
			continue
		default:
			highest[p.topic] = p.rank
		}
		kept = append(kept, p)
	}
	slices.Reverse(kept)
	return kept
}

// confess tells whether the peers are to hear of a loss, and takes it for told.
func (o *outbox) confess() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	lost := o.lost
	o.lost = false
	return lost
}

// unheard takes it back: the peers have not been told, or not for certain.
func (o *outbox) unheard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lost = true
}

// empty tells whether there is nothing left to send or to say.
func (o *outbox) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.parcels) == 0 && !o.lost
}
