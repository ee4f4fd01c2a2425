package hub

import "sync"

const (
	// keepItems is the longest batch that goes back to its pool.
	keepItems = 512
	// keepBuffer is the biggest buffer that goes back to its pool.
	keepBuffer = 2 * joinedBytes
	// readBuffer is the size of a fresh read buffer; it grows up to Options.FrameBytes.
	readBuffer = 4 << 10
)

// pools lend what a connection needs only while it has something to do, so that an idle one has none of it.
type pools struct{ batches, reads, writes, rounds, tries sync.Pool }

func (p *pools) init(h *Hub) {
	p.batches.New = func() any { return new(batch) }
	p.reads.New = func() any { return newBuffer(readBuffer) }
	p.rounds.New = func() any { return newRound(h) }
	p.tries.New = func() any { return newTry() }
	p.writes.New = func() any { return newBuffer(0) }
}

func newBuffer(size int) *[]byte {
	b := make([]byte, 0, size)
	return &b
}

// giveBuffer puts a buffer back, unless something unusually big has blown it up.
func giveBuffer(p *sync.Pool, b *[]byte) {
	if cap(*b) <= keepBuffer {
		p.Put(b)
	}
}

// giveBatch empties a batch and puts it back.
func (p *pools) giveBatch(b *batch) {
	if cap(b.items) > keepItems {
		return
	}
	clear(b.items)
	b.items = b.items[:0]
	p.batches.Put(b)
}
