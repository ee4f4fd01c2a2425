package socket

import "sync"

const (
	// keepFrames is the capacity of the largest batch that is returned to its pool.
	keepFrames = 512
	// keepBuffer is the capacity of the largest buffer that is returned to its pool.
	keepBuffer = 2 * maxJoined
	// freshBuffer is the initial size of a read buffer. A read buffer grows up to Options.FrameBytes.
	freshBuffer = 4 << 10
)

// A connection takes buffers from these pools only while it reads or writes, so that an idle connection has none.
var (
	batches      = sync.Pool{New: func() any { return new(batch) }}
	readBuffers  = sync.Pool{New: func() any { return newBuffer(freshBuffer) }}
	writeBuffers = sync.Pool{New: func() any { return newBuffer(0) }}
)

// batch is a list of frames that are written together.
type batch struct{ frames []Frame }

// recycle empties the batch and returns it to its pool.
func (b *batch) recycle() {
	if cap(b.frames) > keepFrames {
		return
	}
	clear(b.frames)
	b.frames = b.frames[:0]
	batches.Put(b)
}

func newBuffer(size int) *[]byte {
	b := make([]byte, 0, size)
	return &b
}

// recycleBuffer returns a buffer to its pool, unless the buffer is larger than keepBuffer.
func recycleBuffer(p *sync.Pool, b *[]byte) {
	if cap(*b) <= keepBuffer {
		p.Put(b)
	}
}
