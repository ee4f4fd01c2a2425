package hub

import (
	"encoding/binary"
	"unicode/utf8"
)

// Everything that is queued is a whole server frame (RFC 6455: final, unmasked), so that the frame of a broadcast is
// built once and shared by all its receivers, and a lone one is written as it is.

// Frame opcodes with the final bit.
const (
	opText   = 0x81
	opBinary = 0x82
	opClose  = 0x88
	opPing   = 0x89
	opPong   = 0x8a
)

// maxControl is the longest payload of a control frame.
const maxControl = 125

// joinedBytes is the longest frame made of several messages; one longer message has a frame of its own.
const joinedBytes = 64 << 10

// newFrame makes a frame of one message.
func newFrame(e Encoding, payload []byte) []byte {
	body := len(payload)
	if e == Protobuf {
		body += uvarintLen(len(payload))
	}
	b := make([]byte, 0, headerLen(body)+body)
	b = appendHeader(b, e.opcode(), body)
	if e == Protobuf {
		b = binary.AppendUvarint(b, uint64(len(payload)))
	}
	return append(b, payload...)
}

// newControl makes a control frame.
func newControl(opcode byte, payload []byte) []byte {
	payload = payload[:min(len(payload), maxControl)]
	return append([]byte{opcode, byte(len(payload))}, payload...)
}

// newClose makes a close frame; code 0 has neither code nor reason.
func newClose(code int, reason string) []byte {
	if code == 0 {
		return newControl(opClose, nil)
	}
	if limit := maxControl - 2; len(reason) > limit {
		for !utf8.RuneStart(reason[limit]) {
			limit--
		}
		reason = reason[:limit]
	}
	return newControl(opClose, append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...))
}

// appendJoined appends one frame with the messages of all the given frames, whose bodies are size bytes together.
func appendJoined(b []byte, e Encoding, items []item, size int) []byte {
	if e == JSON {
		size += len(items) - 1
	}
	b = appendHeader(b, e.opcode(), size)
	for i, it := range items {
		if e == JSON && i > 0 {
			b = append(b, '\n')
		}
		b = append(b, body(it.frame)...)
	}
	return b
}

// appendHeader appends the header of a frame with n bytes.
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

// body is what a frame holds behind its header.
func body(frame []byte) []byte {
	switch frame[1] {
	case 126:
		return frame[4:]
	case 127:
		return frame[10:]
	}
	return frame[2:]
}

// isControl tells pings, pongs and closes from messages.
func isControl(frame []byte) bool { return frame[0]&0x08 != 0 }

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
