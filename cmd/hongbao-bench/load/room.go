package load

import (
	"hash/maphash"
	"sync"
)

// room is what is known of a room: each of its entries, as the first who heard it did.
type room struct {
	id      string
	channel string
	owner   *user

	mu    sync.Mutex
	heard []mark         // guarded by mu: by seq, from 1
	acks  map[int64]mark // guarded by mu: what was acknowledged, by seq
}

// mark is what an entry is known by. The zero mark is an entry that nobody has heard.
type mark struct{ entry, key uint64 }

var marks = maphash.MakeSeed()

// hashed is never 0.
func hashed(text []byte) uint64 { return maphash.Bytes(marks, text) | 1 }

func markOf(id, key []byte, at int64) mark {
	m := mark{entry: hashed(id) ^ uint64(at)<<1} // the last bit stays 1
	if len(key) > 0 {
		m.key = hashed(key)
	}
	return m
}

func (e *entry) mark() mark { return markOf(e.id, e.key, e.at) }

func newRoom(id, channel string) *room {
	return &room{id: id, channel: channel, acks: map[int64]mark{}}
}

// hear tells whether the entry is the one that others have heard at this place.
func (r *room) hear(e *entry) bool {
	m := e.mark()
	r.mu.Lock()
	defer r.mu.Unlock()
	for int64(len(r.heard)) < e.offset {
		r.heard = append(r.heard, mark{})
	}
	at := &r.heard[e.offset-1]
	if at.entry == 0 {
		*at = m
	}
	return *at == m
}

// acknowledge notes what the server has promised to keep; false when it has given the place to another before.
func (r *room) acknowledge(s sent, key []byte) bool {
	a := markOf(s.id, key, s.at)
	r.mu.Lock()
	defer r.mu.Unlock()
	before, taken := r.acks[s.seq]
	r.acks[s.seq] = a
	return !taken || before == a
}

// last is the highest seq that anybody has heard of.
func (r *room) last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := int64(len(r.heard))
	for seq := range r.acks {
		last = max(last, seq)
	}
	return last
}

// compare sees that what was heard and what was acknowledged is what is stored.
func (r *room) compare(stored []mark, c *checks) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.saw(checkStored, int64(len(stored)))
	c.saw(checkAcked, int64(len(r.acks)))
	keys := map[uint64]int{}
	for i, m := range stored {
		if i < len(r.heard) && r.heard[i].entry != 0 && r.heard[i] != m {
			c.fault(checkStored, "entry %d of %s was heard as another", i+1, r.id)
		}
		if m.key != 0 {
			keys[m.key]++
		}
	}
	if len(r.heard) > len(stored) {
		c.fault(checkStored, "%d entries of %s were heard, %d are stored", len(r.heard), r.id, len(stored))
	}
	for key, n := range keys {
		if n > 1 {
			c.fault(checkAcked, "the key %x is in %s %d times", key, r.id, n)
		}
	}
	for seq, a := range r.acks {
		if seq > int64(len(stored)) || stored[seq-1] != a {
			c.fault(checkAcked, "entry %d of %s was acknowledged and is not there", seq, r.id)
		}
	}
}
