package hub

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// FuzzJoin queues what the script says, each byte a message or a control frame: whatever Writes are made of it, a client that
// reads frame by frame gets the same, in the same order.
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
		var items []item
		var want [][]byte
		for i, b := range script[:min(len(script), 200)] {
			if b&0x80 != 0 {
				control := newControl(opPong, bytes.Repeat([]byte{byte(i)}, int(b&0x7f)))
				items, want = append(items, item{frame: control}), append(want, control)
				continue
			}
			size := int(b&0x0f) * 17
			if b&0x40 != 0 {
				size *= int(b&0x30) << 4 // up to 190 KB
			}
			message := bytes.Repeat([]byte{'a' + byte(i%26)}, size+1)
			items, want = append(items, item{frame: newFrame(e, message)}), append(want, message)
		}
		var got [][]byte
		for len(items) > 0 {
			out, n := join(nil, e, items)
			if n < 1 {
				t.Fatal("nothing is written")
			}
			read, err := unjoin(e, out)
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > 2*joinedBytes && n > 1 {
				t.Errorf("a Write of %d bytes", len(out))
			}
			got, items = append(got, read...), items[n:]
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%d came of %d", len(got), len(want))
		}
	})
}

// unjoin reads frames as RFC 6455 has them: control frames whole, messages one by one.
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
