package load

import "sync/atomic"

// journal is what one user has heard of one room: each entry must be the one after the one before it.
type journal struct {
	room *room
	user string
	last atomic.Int64 // seq; written by the user's own goroutine only

	skipped map[int64]struct{} // of that goroutine: places that were passed over
}

// start says that the user is in the room from here on.
func (j *journal) start(seq int64) { j.last.Store(seq) }

// hear checks one entry.
func (j *journal) hear(e *entry, c *checks) {
	last := j.last.Load()
	if e.offset < 1 || e.offset > last+maxSkipped || e.offset != e.seq {
		c.fault(checkOrder, "%s: entry %d, which calls itself %d, comes after %d in %s", j.user, e.offset, e.seq, last, j.room.id)
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
		c.fault(checkOnce, "%s: entry %d of %s for the second time", j.user, e.offset, j.room.id)
	}
	if !j.room.hear(e) {
		c.fault(checkAgree, "%s: entry %d of %s is another for others", j.user, e.offset, j.room.id)
	}
}

// maxSkipped bounds what a wrong offset can make us remember.
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

// finish is called when the user hears no more: all that the room has must be there.
func (j *journal) finish(last int64, c *checks) {
	got := j.last.Load()
	if got < last {
		c.fault(checkComplete, "%s: has heard %d of the %d entries of %s", j.user, got, last, j.room.id)
	}
	for seq := range j.skipped {
		c.fault(checkComplete, "%s: has never heard entry %d of %s", j.user, seq, j.room.id)
	}
}
