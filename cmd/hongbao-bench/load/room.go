package load

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
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

// journal records which entries of one room one user has received. They must come in order.
type journal struct {
	room *room
	user string
	last atomic.Int64 // seq; written by the user's own goroutine only

	skipped map[int64]struct{} // seqs below last that have not arrived so far; used by the user's own goroutine only
}

// start sets the seq after which the user receives the room's entries.
func (j *journal) start(seq int64) { j.last.Store(seq) }

// receive records one entry. It checks that the entry comes once and in order, and is the same that other users received. After a
// gap, the missing entries may still come; finish reports those that did not.
func (j *journal) receive(e *entry, c *checks) {
	last := j.last.Load()
	if e.offset < 1 || e.offset > last+maxSkipped || e.offset != e.seq {
		c.fault(checkOrder, "%s: entry at offset %d has seq %d and comes after %d in %s", j.user, e.offset, e.seq, last, j.room.id)
		return
	}
	switch {
	case e.offset == last+1:
		j.last.Store(e.offset)
	case e.offset > last:
		for seq := last + 1; seq < e.offset; seq++ {
			j.skip(seq)
		}
		j.last.Store(e.offset)
	case j.missed(e.offset):
		delete(j.skipped, e.offset)
		c.fault(checkOrder, "%s: entry %d comes after %d in %s", j.user, e.offset, last, j.room.id)
	default:
		c.fault(checkOnce, "%s: entry %d of %s arrived twice", j.user, e.offset, j.room.id)
	}
	if !j.room.receive(e) {
		c.fault(checkAgree, "%s: entry %d of %s differs from that of other users", j.user, e.offset, j.room.id)
	}
}

// maxSkipped bounds the gap that is recorded seq by seq: a wrong offset must not use up the memory.
const maxSkipped = 1 << 20

func (j *journal) skip(seq int64) {
	if j.skipped == nil {
		j.skipped = map[int64]struct{}{}
	}
	j.skipped[seq] = struct{}{}
}

func (j *journal) missed(seq int64) bool {
	_, missed := j.skipped[seq]
	return missed
}

// finish checks at the end that the journal has every entry of the room, up to the seq last.
func (j *journal) finish(last int64, c *checks) {
	got := j.last.Load()
	if got < last {
		c.fault(checkComplete, "%s: received %d of the %d entries of %s", j.user, got, last, j.room.id)
	}
	for seq := range j.skipped {
		c.fault(checkComplete, "%s: never received entry %d of %s", j.user, seq, j.room.id)
	}
}
