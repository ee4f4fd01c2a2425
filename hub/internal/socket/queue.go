package socket

import "sync/atomic"

// queue holds the frames that wait to be written to one connection. The lock of its Socket guards it. Only the byte
// counts may be read without that lock.
type queue struct {
	ready   *batch       // nil: empty
	held    *batch       // frames queued between Hold and Release; nil: empty
	pushes  atomic.Int64 // bytes of the pushes that are in the queue or being written
	replies atomic.Int64 // bytes of the replies that are in the queue or being written
}

// admit decides whether a push may be queued. If the push does not fit within the limit, a push that may be shed is
// dropped itself. Any other push first causes all sheddable frames in the queue to be dropped. ok is false if the push
// still does not fit. shed is the number of frames dropped. An empty queue accepts a frame of any size.
func (q *queue) admit(f Frame, limit int64) (ok bool, shed int) {
	size := int64(len(f.Bytes))
	if pushes := q.pushes.Load(); pushes == 0 || pushes+size <= limit {
		return true, 0
	}
	if f.Shed {
		return false, 1
	}
	shed = q.shed(&q.ready) + q.shed(&q.held)
	return q.pushes.Load()+size <= limit, shed
}

// shed drops all frames of a batch that are marked Shed, and returns how many.
func (q *queue) shed(from **batch) (count int) {
	b := *from
	if b == nil {
		return 0
	}
	kept := b.frames[:0]
	for _, f := range b.frames {
		if f.Shed {
			q.count(f, -1)
			count++
			continue
		}
		kept = append(kept, f)
	}
	clear(b.frames[len(kept):])
	b.frames = kept
	if len(kept) == 0 {
		q.drop(from)
	}
	return count
}

// push appends a frame to one of the queue's two batches, ready or held.
func (q *queue) push(to **batch, f Frame) {
	q.count(f, 1)
	if *to == nil {
		*to = batches.Get().(*batch)
	}
	(*to).frames = append((*to).frames, f)
}

// release moves the held frames behind the ready frames, and reports whether there were any.
func (q *queue) release() bool {
	switch {
	case q.held == nil:
		return false
	case q.ready == nil:
		q.ready = q.held
	default:
		q.ready.frames = append(q.ready.frames, q.held.frames...)
		q.held.recycle()
	}
	q.held = nil
	return true
}

// take removes and returns all ready frames, or nil if there are none. Their bytes count as queued until they are
// written.
func (q *queue) take() *batch {
	b := q.ready
	q.ready = nil
	return b
}

// drop empties one of the queue's two batches, ready or held.
func (q *queue) drop(from **batch) {
	b := *from
	if b == nil {
		return
	}
	for _, f := range b.frames {
		q.count(f, -1)
	}
	*from = nil
	b.recycle()
}

// count updates the byte counts for a frame that is added (sign 1) or removed (sign -1).
func (q *queue) count(f Frame, sign int64) {
	if f.reply {
		q.replies.Add(sign * int64(len(f.Bytes)))
		return
	}
	q.pushes.Add(sign * int64(len(f.Bytes)))
}
