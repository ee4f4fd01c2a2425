package socket

import (
	"sync"
	"time"

	"hongbao/hub/internal/poll"
)

// writeTimeout is the longest time that one Write may take. A deadline that was set by an earlier Write may leave only
// half of it.
const writeTimeout = 10 * time.Second

// tries is a pool. A try writes without blocking, so a goroutine that has queued a frame may write it itself, without
// another goroutine.
var tries = sync.Pool{New: func() any { return newTry() }}

// try is one non-blocking attempt to write a batch.
type try struct {
	write  func(fd uintptr) // t.writeOnce as a value: passing it allocates nothing
	buffer []byte           // joined frames
	out    []byte           // the bytes that writeOnce writes
	sent   int              // how many bytes of out the socket has accepted
}

func newTry() *try {
	t := &try{}
	t.write = t.writeOnce
	return t
}

func (t *try) writeOnce(fd uintptr) { t.sent = poll.TryWrite(fd, t.out) }

// send joins the batch into t.out and writes as much of it as the socket accepts without blocking. t.sent is then the
// number of bytes written. It does nothing if the batch needs more than one Write.
func (t *try) send(s *Socket, b *batch) {
	n := 1
	if t.out = b.frames[0].Bytes; len(b.frames) > 1 {
		t.out, n = join(t.buffer[:0], s.encoding, b.frames)
		if n > 1 { // with n = 1, out may be the frame itself and not the buffer
			t.buffer = t.out[:0]
		}
	}
	if t.sent = 0; n == len(b.frames) {
		// This uses Control because Write would wait for a concurrent Write. If the write fails, the next Write returns
		// the same error.
		_ = s.raw.Control(t.write)
	}
}

// recycle returns the try to its pool.
func (t *try) recycle() {
	t.out = nil
	if cap(t.buffer) > keepBuffer {
		t.buffer = nil
	}
	tries.Put(t)
}

// flusher is the writing side of a socket. At most one flusher runs for a socket (Socket.flushing), and nothing else
// writes to it. It has no fields besides the socket.
type flusher struct{ *Socket }

// writeAll writes the frames in as few Writes as maxJoined allows. It blocks while the client does not read.
func (f flusher) writeAll(frames []Frame) bool {
	if len(frames) == 1 {
		return f.write(frames[0].Bytes, frames)
	}
	buffer := writeBuffers.Get().(*[]byte)
	defer recycleBuffer(&writeBuffers, buffer)
	for len(frames) > 0 {
		out, n := join((*buffer)[:0], f.encoding, frames)
		ok := f.write(out, frames[:n])
		frames = frames[n:]
		if !ok {
			f.dequeued(frames)
			return false
		}
		if n > 1 { // with n = 1, out may be the frame itself and not the buffer
			*buffer = out[:0]
		}
	}
	return true
}

// write writes the bytes of the given frames. It blocks while the client does not read.
func (f flusher) write(b []byte, frames []Frame) bool {
	f.extendDeadline()
	_, err := f.ws.NetConn().Write(b)
	f.dequeued(frames)
	return err == nil
}

// extendDeadline sets the write deadline. Each change moves a timer of the runtime, so the deadline is changed only if
// less than half of writeTimeout is left.
func (f flusher) extendDeadline() {
	start := f.group.wheels.Start()
	if now := time.Since(start); f.writeBy-now < writeTimeout/2 {
		f.writeBy = now + writeTimeout
		f.ws.NetConn().SetWriteDeadline(start.Add(f.writeBy))
	}
}

// dequeued removes the frames from the byte counts, whether they were written or lost.
func (f flusher) dequeued(frames []Frame) {
	replies := false
	for _, frame := range frames {
		f.queue.count(frame, -1)
		replies = replies || frame.reply
	}
	if replies {
		f.mu.Lock()
		f.wakeBehindLocked()
		f.mu.Unlock()
	}
}
