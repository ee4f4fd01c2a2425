package load

import (
	"hash/maphash"
	"sync"
)

// room records the entries of a room. It has each entry as the first user received it, to compare it with what other users receive.
type room struct {
	id      string
	channel string
	owner   *user

	mu       sync.Mutex
	received []mark         // guarded by mu: by seq, from 1
	acks     map[int64]mark // guarded by mu: acknowledged entries, by seq
}

// mark identifies an entry. The zero mark stands for an entry that no user has received.
type mark struct{ entry, key uint64 }

var marks = maphash.MakeSeed()

// hashed returns a hash of the text that is never 0.
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

// receive records the entry, or reports false if another user has received another entry with this seq.
func (r *room) receive(e *entry) bool {
	m := e.mark()
	r.mu.Lock()
	defer r.mu.Unlock()
	for int64(len(r.received)) < e.offset {
		r.received = append(r.received, mark{})
	}
	at := &r.received[e.offset-1]
	if at.entry == 0 {
		*at = m
	}
	return *at == m
}

// acknowledge records that the server has acknowledged an entry. It returns false if another entry was acknowledged
// with the same seq.
func (r *room) acknowledge(s sent, key []byte) bool {
	a := markOf(s.id, key, s.at)
	r.mu.Lock()
	defer r.mu.Unlock()
	before, taken := r.acks[s.seq]
	r.acks[s.seq] = a
	return !taken || before == a
}

// last returns the highest seq that was received or acknowledged.
func (r *room) last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := int64(len(r.received))
	for seq := range r.acks {
		last = max(last, seq)
	}
	return last
}

// compare checks that every received and every acknowledged entry is stored as it was seen, and that no key is stored
// twice.
func (r *room) compare(stored []mark, c *checks) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.saw(checkStored, int64(len(stored)))
	c.saw(checkAcked, int64(len(r.acks)))
	keys := map[uint64]int{}
	for i, m := range stored {
		if i < len(r.received) && r.received[i].entry != 0 && r.received[i] != m {
			c.fault(checkStored, "entry %d of %s was received as another one", i+1, r.id)
		}
		if m.key != 0 {
			keys[m.key]++
		}
	}
	if len(r.received) > len(stored) {
		c.fault(checkStored, "%d entries of %s were received, %d are stored", len(r.received), r.id, len(stored))
	}
	for key, n := range keys {
		if n > 1 {
			c.fault(checkAcked, "key %x is stored in %s %d times", key, r.id, n)
		}
	}
	for seq, a := range r.acks {
		if seq > int64(len(stored)) || stored[seq-1] != a {
			c.fault(checkAcked, "entry %d of %s was acknowledged and is not stored", seq, r.id)
		}
	}
}
