package load

import "sync/atomic"

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
