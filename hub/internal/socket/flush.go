package socket

import (
	"slices"
	"time"
)

// Flush writes the queued frames, as far as the socket accepts them without blocking. A new goroutine writes the rest.
// Call it exactly once for each call of Deliver or Reply that returned true.
func (s *Socket) Flush() {
	f := flusher{s}
	if s.raw == nil {
		go s.flush()
		return
	}
	b := f.take()
	if b == nil {
		return
	}
	t := tries.Get().(*try)
	t.send(s, b)
	switch {
	case t.sent == len(t.out):
		f.dequeued(b.frames)
		f.written(b, true)
		f.settle()
	case t.sent == 0:
		go f.resume(b, nil)
	default:
		go f.resume(b, slices.Clone(t.out[t.sent:]))
	}
	t.recycle()
}

// run writes batches until the queue is empty. It blocks while the client does not read.
func (f flusher) run() {
	for b := f.take(); b != nil; b = f.take() {
		f.written(b, f.writeAll(b.frames))
	}
}

// resume writes the rest of a batch that a non-blocking write has begun; if rest is nil, all of it. It then does the
// same as run.
func (f flusher) resume(b *batch, rest []byte) {
	if rest != nil {
		f.written(b, f.write(rest, b.frames))
	} else {
		f.written(b, f.writeAll(b.frames))
	}
	f.run()
}

// take returns all frames that are ready. If there are none, it returns nil and ends the flusher. If the reader has
// ended before, it also closes the connection.
func (f flusher) take() *batch {
	f.mu.Lock()
	b := f.queue.take()
	f.flushing = b != nil
	last := b == nil && f.left
	f.mu.Unlock()
	if last {
		f.finish()
	}
	return b
}

// settle ends the flusher. If frames were queued in the meantime, it starts another one.
func (f flusher) settle() {
	f.mu.Lock()
	more := f.queue.ready != nil
	f.flushing = more
	last := !more && f.left
	f.mu.Unlock()
	switch {
	case more:
		go f.flush()
	case last:
		f.finish()
	}
}

// written finishes a batch. ok means that all of it was written.
func (f flusher) written(b *batch, ok bool) {
	closed := b.frames[len(b.frames)-1].Bytes[0] == opClose
	b.recycle()
	switch {
	case !ok:
		f.Abort()
	case closed:
		f.ws.NetConn().SetReadDeadline(time.Now().Add(closeTimeout)) // for the peer's close frame
	}
}
