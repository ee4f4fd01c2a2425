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

// frame is one of ours, and is used again.
type frame []byte

// headRoom is as long as a head can be: two bytes, the length in eight more, and the mask.
const headRoom = 2 + 8 + 4

// fill makes it the frame of what content appends. Its mask is zero, which leaves the content as it is: masks are there for
// proxies that do not understand what passes, and here is none.
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

// framed is a text as a frame, to be sent over and over.
func framed(text []byte) []byte {
	return new(frame).fill(opText, func(b []byte) []byte { return append(b, text...) })
}

// maxFrame is more than a server ever sends at once.
const maxFrame = 64 << 20

// readFrame finds the frame that b begins with, of size bytes. Its content is there only when b is not shorter; size 0: not
// even its head is there.
func readFrame(b []byte) (op opcode, content []byte, size int, err error) {
	if len(b) < 2 {
		return 0, nil, 0, nil
	}
	if b[0]&0xf0 != 0x80 || b[1]&0x80 != 0 {
		return 0, nil, 0, fmt.Errorf("a frame that no server of ours sends: % x", b[:2])
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
		return 0, nil, 0, fmt.Errorf("a frame of %d bytes", n)
	}
	if size = head + n; size <= len(b) {
		content = b[head:size]
	}
	return opcode(b[0] & 0xf), content, size, nil
}
