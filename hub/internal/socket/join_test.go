package socket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// FuzzJoin joins a random sequence of messages and control frames into Writes. Each input byte gives one frame. A
// client that parses the written bytes must get the same messages and control frames, in the same order.
func FuzzJoin(f *testing.F) {
	f.Add(false, []byte{1, 2, 3})
	f.Add(true, []byte{0, 0x80, 1, 0xff, 2})
	f.Add(false, []byte{0x7f, 1, 1, 0x7f, 0x70, 0x70, 0x70, 1})
	f.Add(true, bytes.Repeat([]byte{0x45, 0x81, 0x10}, 50))
	f.Fuzz(func(t *testing.T, protobuf bool, script []byte) {
		e := JSON
		if protobuf {
			e = Protobuf
		}
		var frames []Frame
		var want [][]byte
		for i, b := range script[:min(len(script), 200)] {
			if b&0x80 != 0 {
				control := encodeControl(opPong, bytes.Repeat([]byte{byte(i)}, int(b&0x7f)))
				frames, want = append(frames, Frame{Bytes: control}), append(want, control)
				continue
			}
			size := int(b&0x0f) * 17
			if b&0x40 != 0 {
				size *= int(b&0x30) << 4 // up to 190 KB
			}
			message := bytes.Repeat([]byte{'a' + byte(i%26)}, size+1)
			frames, want = append(frames, Frame{Bytes: EncodeFrame(e, message)}), append(want, message)
		}
		var got [][]byte
		for len(frames) > 0 {
			out, n := mergeFrames(nil, e, frames)
			if n < 1 {
				t.Fatal("join used no frame")
			}
			read, err := unjoin(e, out)
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > 2*maxJoined && n > 1 {
				t.Errorf("a Write of %d bytes", len(out))
			}
			got, frames = append(got, read...), frames[n:]
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%d messages came, %d were queued, or they differ", len(got), len(want))
		}
	})
}

// unjoin parses frames by RFC 6455. It returns each control frame unchanged, and each message by itself.
func unjoin(e Encoding, wire []byte) (found [][]byte, err error) {
	for len(wire) > 0 {
		head := 2
		if len(wire) < head {
			return nil, errors.New("half a header")
		}
		size := int(wire[1])
		switch {
		case size == 126 && len(wire) >= 4:
			head, size = 4, int(binary.BigEndian.Uint16(wire[2:]))
		case size == 127 && len(wire) >= 10:
			head, size = 10, int(binary.BigEndian.Uint64(wire[2:]))
		case size > 125:
			return nil, errors.New("a mask, or half a header")
		}
		if len(wire) < head+size {
			return nil, errors.New("half a frame")
		}
		frame := wire[:head+size]
		wire = wire[len(frame):]
		switch {
		case frame[0] == opPong:
			found = append(found, frame)
		case frame[0] == opText && e == JSON:
			found = append(found, bytes.Split(frame[head:], []byte("\n"))...)
		case frame[0] == opBinary && e == Protobuf:
			for rest := frame[head:]; len(rest) > 0; {
				length, n := binary.Uvarint(rest)
				if n <= 0 || length > uint64(len(rest)-n) {
					return nil, errors.New("a bad length")
				}
				found, rest = append(found, rest[n:n+int(length)]), rest[n+int(length):]
			}
		default:
			return nil, errors.New("an unknown frame")
		}
	}
	return found, nil
}
