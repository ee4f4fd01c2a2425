package load

import (
	"encoding/binary"
	"fmt"
)

// opcode is the kind of a frame, as RFC 6455 numbers them.
type opcode byte

const (
	opText  opcode = 0x1
	opClose opcode = 0x8
	opPing  opcode = 0x9
	opPong  opcode = 0xa
)

// frame is the reusable buffer of one outgoing frame.
type frame []byte

// headRoom is the longest frame head: two bytes, eight of length, four of mask.
const headRoom = 2 + 8 + 4

// fill replaces the frame by one with the content that content appends. Its mask is zero, which leaves the content
// unchanged: a mask protects proxies, and a load test needs no such protection.
func (f *frame) fill(op opcode, content func(b []byte) []byte) []byte {
	b := content(append((*f)[:0], make([]byte, headRoom)...))
	*f = b
	head := [headRoom]byte{0x80 | byte(op), 0x80}
	n, size := len(b)-headRoom, 2
	switch {
	case n < 126:
		head[1] |= byte(n)
	case n < 1<<16:
		head[1], size = 0x80|126, 2+2
		binary.BigEndian.PutUint16(head[2:], uint16(n))
	default:
		head[1], size = 0x80|127, 2+8
		binary.BigEndian.PutUint64(head[2:], uint64(n))
	}
	b = b[headRoom-size-4:] // 4 is the mask
	copy(b, head[:size+4])
	return b
}

// framed returns a frame with the text, to be sent repeatedly.
func framed(text []byte) []byte {
	return new(frame).fill(opText, func(b []byte) []byte { return append(b, text...) })
}

// maxFrame is far more than hongbao sends in one frame. A longer frame is an error.
const maxFrame = 64 << 20

// readFrame parses the frame at the start of b. size is its length, 0 if the head is incomplete; content is set only if b
// holds the whole frame.
func readFrame(b []byte) (op opcode, content []byte, size int, err error) {
	if len(b) < 2 {
		return 0, nil, 0, nil
	}
	if b[0]&0xf0 != 0x80 || b[1]&0x80 != 0 {
		return 0, nil, 0, fmt.Errorf("unexpected frame head: % x", b[:2])
	}
	head, n := 2, int(b[1])
	switch {
	case n == 126 && len(b) >= 4:
		head, n = 4, int(binary.BigEndian.Uint16(b[2:]))
	case n == 127 && len(b) >= 10:
		head, n = 10, int(min(binary.BigEndian.Uint64(b[2:]), maxFrame+1))
	case n >= 126:
		return 0, nil, 0, nil
	}
	if n > maxFrame {
		return 0, nil, 0, fmt.Errorf("frame of %d bytes is too long", n)
	}
	if size = head + n; size <= len(b) {
		content = b[head:size]
	}
	return opcode(b[0] & 0xf), content, size, nil
}
