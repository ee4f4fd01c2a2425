package socket

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"hongbao/hub/internal/poll"
)

// Encoding is the encoding in which a connection receives messages.
type Encoding uint8

// The two encodings.
const (
	JSON     Encoding = iota // text frames; newlines separate the messages of a frame
	Protobuf                 // binary frames, each message prefixed by its varint length
)

// Frame is a complete server frame (RFC 6455: final, unmasked) that waits to be written, and the rules for its
// delivery. All receivers of a broadcast with the same encoding share its Bytes.
type Frame struct {
	Bytes    []byte // never changes
	Shed     bool   // may be dropped when the queue is full
	Deferred bool   // may wait to be written together with another frame
	reply    bool   // made for this client alone, so it does not count toward the queue's bound
}

// Frame opcodes with the final bit.
const (
	opText   = 0x81
	opBinary = 0x82
	opClose  = 0x88
	opPing   = 0x89
	opPong   = 0x8a
)

// maxControl is the maximum payload of a control frame, in bytes.
const maxControl = 125

// EncodeFrame returns a frame that holds the messages.
func EncodeFrame(e Encoding, messages ...[]byte) []byte {
	body := 0
	for _, message := range messages {
		body += len(message)
		if e == Protobuf {
			body += uvarintLen(len(message))
		}
	}
	if e == JSON {
		body += len(messages) - 1
	}
	b := make([]byte, 0, headerLen(body)+body)
	b = appendHeader(b, e.opcode(), body)
	for i, message := range messages {
		switch {
		case e == Protobuf:
			b = binary.AppendUvarint(b, uint64(len(message)))
		case i > 0:
			b = append(b, '\n')
		}
		b = append(b, message...)
	}
	return b
}

// encodeControl returns a control frame.
func encodeControl(opcode byte, payload []byte) []byte {
	payload = payload[:min(len(payload), maxControl)]
	return append([]byte{opcode, byte(len(payload))}, payload...)
}

// encodeClose returns a close frame. If code is 0, the frame has neither code nor reason. A reason that is too long is
// cut.
func encodeClose(code int, reason string) []byte {
	if code == 0 {
		return encodeControl(opClose, nil)
	}
	if limit := maxControl - 2; len(reason) > limit {
		for !utf8.RuneStart(reason[limit]) {
			limit--
		}
		reason = reason[:limit]
	}
	return encodeControl(opClose, append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...))
}

// appendHeader appends to b the header of a frame whose body has n bytes.
func appendHeader(b []byte, opcode byte, n int) []byte {
	switch {
	case n < 126:
		return append(b, opcode, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, opcode, 126), uint16(n))
	}
	return binary.BigEndian.AppendUint64(append(b, opcode, 127), uint64(n))
}

func headerLen(n int) int {
	switch {
	case n < 126:
		return 2
	case n < 1<<16:
		return 4
	}
	return 10
}

// bodyOf returns the frame without its header.
func bodyOf(frame []byte) []byte {
	switch frame[1] {
	case 126:
		return frame[4:]
	case 127:
		return frame[10:]
	}
	return frame[2:]
}

// isControl reports whether a frame is a ping, pong or close frame.
func isControl(frame []byte) bool { return frame[0]&0x08 != 0 }

// isWholeMessage reports whether b is exactly one client message in a single frame. Such bytes can be read without
// waiting for more, and without an error. For messages of 64 KiB or more it returns false.
func isWholeMessage(b []byte) bool {
	const masked, key = 0x80, 4
	if len(b) < 2 || b[0] != opText && b[0] != opBinary || b[1]&masked == 0 {
		return false
	}
	switch n := int(b[1] &^ masked); {
	case n < 126:
		return len(b) == 2+key+n
	case n == 126 && len(b) > 4:
		return len(b) == 4+key+int(binary.BigEndian.Uint16(b[2:]))
	}
	return false
}

func (e Encoding) opcode() byte {
	if e == Protobuf {
		return opBinary
	}
	return opText
}

func uvarintLen(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

const (
	// keepFrames is the capacity of the largest batch that is returned to its pool.
	keepFrames = 512
	// keepBuffer is the capacity of the largest buffer that is returned to its pool.
	keepBuffer = 2 * maxJoined
	// freshBuffer is the initial size of a read buffer, which grows for longer messages.
	freshBuffer = 4 << 10
)

// A connection takes objects from these pools only while it reads or has frames to write, so that an idle connection has none.
var (
	batches      = sync.Pool{New: func() any { return new(batch) }}
	readBuffers  = sync.Pool{New: func() any { return newBuffer(freshBuffer) }}
	writeBuffers = sync.Pool{New: func() any { return newBuffer(0) }}
)

// batch is a list of frames that are written together.
type batch struct{ frames []Frame }

// recycle empties the batch and returns it to its pool, unless its capacity is above keepFrames.
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

// maxJoined is the maximum size of a frame that is made of several messages. A longer message keeps a frame of its own.
const maxJoined = 64 << 10

// mergeFrames builds the bytes for the next Write from the first n frames. Consecutive messages are merged into one frame;
// control frames stay unchanged. It appends to b, except for a single long frame, which it returns without copying.
func mergeFrames(b []byte, e Encoding, frames []Frame) (out []byte, n int) {
	if len(frames[0].Bytes) >= maxJoined {
		return frames[0].Bytes, 1
	}
	for n < len(frames) && len(b) < maxJoined {
		if isControl(frames[n].Bytes) {
			b = append(b, frames[n].Bytes...)
			n++
			continue
		}
		if len(frames[n].Bytes) >= maxJoined {
			break
		}
		end, size := fitting(frames, n)
		b = appendJoined(b, e, frames[n:end], size)
		n = end
	}
	return b, n
}

// fitting returns the end index of the messages, beginning at start, that fit into one frame. size is the sum of their
// bodies.
func fitting(frames []Frame, start int) (end, size int) {
	for end = start; end < len(frames); end++ {
		frame := frames[end].Bytes
		if isControl(frame) || end > start && size+len(frame) > maxJoined {
			break
		}
		size += len(bodyOf(frame))
	}
	return end, size
}

// appendJoined appends to b one frame with the messages of all given frames. size is the sum of their bodies.
func appendJoined(b []byte, e Encoding, frames []Frame, size int) []byte {
	if e == JSON {
		size += len(frames) - 1
	}
	b = appendHeader(b, e.opcode(), size)
	for i, f := range frames {
		if e == JSON && i > 0 {
			b = append(b, '\n')
		}
		b = append(b, bodyOf(f.Bytes)...)
	}
	return b
}

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
		t.out, n = mergeFrames(t.buffer[:0], s.encoding, b.frames)
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

// flusher is the writing side of a socket. At most one flusher runs for a socket (Socket.flushing). Nothing else writes to the
// socket, except gorilla (see the package documentation). A flusher has no fields besides the socket.
type flusher struct{ *Socket }

// writeAll writes the frames in as few Writes as maxJoined allows. It blocks while the client does not read. It returns false if
// a Write failed.
func (f flusher) writeAll(frames []Frame) bool {
	if len(frames) == 1 {
		return f.write(frames[0].Bytes, frames)
	}
	buffer := writeBuffers.Get().(*[]byte)
	defer recycleBuffer(&writeBuffers, buffer)
	for len(frames) > 0 {
		out, n := mergeFrames((*buffer)[:0], f.encoding, frames)
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

// write writes the bytes of the given frames. It blocks while the client does not read. It returns false if it failed.
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
		f.ws.NetConn().SetReadDeadline(time.Now().Add(f.group.closeTimeout)) // for the peer's close frame
	}
}

// roundSize is the largest number of connections in a Round. A broadcast to more connections uses several goroutines,
// and so several cores.
const roundSize = 64

var rounds sync.Pool // pool of *Round

// Flusher is a connection with queued data to write.
type Flusher interface {
	// Flush writes the queued data, as far as that is possible without blocking.
	Flush()
}

// Round is a list of connections that one goroutine flushes in turn, so that each needs no goroutine of its own. The goroutine
// blocks on none of them.
type Round struct {
	run     func() // r.flush as a value: starting it allocates nothing; static
	members [roundSize]Flusher
	n       int
}

// newRound takes an empty round from the pool.
func newRound() *Round {
	if r, ok := rounds.Get().(*Round); ok {
		return r
	}
	r := &Round{}
	r.run = r.flush
	return r
}

// Join adds a connection to the round and returns the round to use for the next connection: a full round is started and
// replaced. r may be nil, which is an empty round.
func (r *Round) Join(c Flusher) *Round {
	if r == nil {
		r = newRound()
	}
	r.members[r.n] = c
	r.n++
	if r.n < roundSize {
		return r
	}
	go r.run()
	return nil
}

// Start flushes the connections of the round on a new goroutine. The caller must not use the round afterwards.
func (r *Round) Start() {
	if r != nil {
		go r.run()
	}
}

func (r *Round) flush() {
	for i, c := range r.members[:r.n] {
		r.members[i] = nil
		c.Flush()
	}
	r.n = 0
	rounds.Put(r)
}
