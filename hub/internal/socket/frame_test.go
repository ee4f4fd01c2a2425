package socket

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

func TestEncodeFrame(t *testing.T) {
	for _, size := range []int{0, 1, 125, 126, 127, 128, 65535, 65536, 200_000} {
		message := strings.Repeat("x", size)
		for _, e := range []Encoding{JSON, Protobuf} {
			want := message
			if e == Protobuf {
				want = string(binary.AppendUvarint(nil, uint64(size))) + message
			}
			frame := EncodeFrame(e, []byte(message))
			if string(bodyOf(frame)) != want || len(frame) != headerLen(len(want))+len(want) || cap(frame) != len(frame) {
				t.Errorf("encoding %d, a message of %d bytes: the frame has %d bytes (capacity %d), its body %d",
					e, size, len(frame), cap(frame), len(bodyOf(frame)))
			}
		}
	}
}

func TestCloseReasonIsCutAtARune(t *testing.T) {
	long := encodeClose(3001, strings.Repeat("é", 100))
	if len(long) != 2+2+122 || long[1] != 124 {
		t.Errorf("the close frame has %d bytes, want %d: the reason is cut before the rune that does not fit", len(long), 2+2+122)
	}
	if got := fmt.Sprintf("% x", encodeClose(0, "")); got != "88 00" {
		t.Errorf("the empty close frame is %s, want 88 00", got)
	}
}
