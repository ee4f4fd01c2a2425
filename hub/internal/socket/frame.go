package socket

import (
	"encoding/binary"
	"sync"
	"unicode/utf8"
)

// Encoding is the encoding in which a connection receives messages.
type Encoding uint8

// The two encodings.
const (
	JSON     Encoding = iota // text frames; newlines separate the messages of a frame
	Protobuf                 // binary frames, each message prefixed by its varint length
)

// Frame is a complete server frame (RFC 6455: final, unmasked) that waits to be written, and the rules for its
// delivery. A broadcast has one Frame, which all its receivers share.
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

// EncodeFrame returns a frame that holds one message.
func EncodeFrame(e Encoding, message []byte) []byte {
	body := len(message)
	if e == Protobuf {
		body += uvarintLen(len(message))
	}
	b := make([]byte, 0, headerLen(body)+body)
	b = appendHeader(b, e.opcode(), body)
	if e == Protobuf {
		b = binary.AppendUvarint(b, uint64(len(message)))
	}
	return append(b, message...)
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
// waiting for more, and without an error.
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

// maxJoined is the maximum size of a frame that is made of several messages. A longer message keeps a frame of its own.
const maxJoined = 64 << 10

// join builds the bytes for the next Write from the first n frames. Consecutive messages are merged into one frame;
// control frames stay unchanged. It appends to b, except for a single long frame, which it returns without copying.
func join(b []byte, e Encoding, frames []Frame) (out []byte, n int) {
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
