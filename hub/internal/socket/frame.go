package socket

import (
	"encoding/binary"
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
