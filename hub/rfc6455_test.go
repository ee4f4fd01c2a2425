package hub_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

// These tests send frames that RFC 6455 allows or forbids, and check how the hub reacts.

const (
	fin     = 0x80
	rsv1    = 0x40
	rsv2    = 0x20
	rsv3    = 0x10
	opMore  = 0
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
	whole   = fin | opText
)

// rawFrame returns one frame as a client sends it, masked with zeros.
func rawFrame(head byte, payload string) []byte {
	frame := []byte{head}
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, 0x80|byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 0x80|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 0x80|127), uint64(n))
	}
	return append(append(frame, 0, 0, 0, 0), payload...)
}

// closing returns the payload of a close frame with the code and reason.
func closing(code int, reason string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(code))) + reason
}

func TestRFC6455(t *testing.T) {
	cases := []struct {
		name   string
		frames [][]byte
		got    []string // messages that the handler must receive
		code   int      // close code that the client must receive; 0: the connection stays open
	}{
		{"a message", [][]byte{rawFrame(whole, "a")}, []string{"a"}, 0},
		{"the largest", [][]byte{rawFrame(whole, strings.Repeat("x", 64<<10))}, []string{strings.Repeat("x", 64<<10)}, 0},
		{"one byte more", [][]byte{rawFrame(whole, strings.Repeat("x", 64<<10+1))}, nil, 1009},
		{"fragments", [][]byte{rawFrame(opText, "a"), rawFrame(opMore, "b"), rawFrame(opMore, ""), rawFrame(fin|opMore, "c")}, []string{"abc"}, 0},
		{"a rune in two fragments", [][]byte{rawFrame(opText, "\xe7\x95"), rawFrame(fin|opMore, "\x8c")}, []string{"界"}, 0},
		{"no UTF-8 in fragments", [][]byte{rawFrame(opText, "\xe7"), rawFrame(fin|opMore, "\x8c")}, nil, hub.CloseProtocol},
		{"a ping between fragments", [][]byte{rawFrame(opText, "a"), rawFrame(fin|opPing, "p"), rawFrame(fin|opMore, "b")}, []string{"ab"}, 0},
		{"an unsolicited pong", [][]byte{rawFrame(fin|opPong, "p"), rawFrame(whole, "a")}, []string{"a"}, 0},
		{"the longest ping", [][]byte{rawFrame(fin|opPing, strings.Repeat("p", 125)), rawFrame(whole, "a")}, []string{"a"}, 0},
		{"too long a ping", [][]byte{rawFrame(fin|opPing, strings.Repeat("p", 126))}, nil, 1002},
		{"a ping in fragments", [][]byte{rawFrame(opPing, "p")}, nil, 1002},
		{"a close in fragments", [][]byte{rawFrame(opClose, closing(1000, ""))}, nil, 1002},
		{"a message within another", [][]byte{rawFrame(opText, "a"), rawFrame(whole, "b")}, nil, 1002},
		{"a continuation of nothing", [][]byte{rawFrame(fin|opMore, "a")}, nil, 1002},
		{"too big in fragments", tooBigInFragments(), nil, 1009},
		{"the second reserved bit", [][]byte{rawFrame(whole|rsv2, "a")}, nil, 1002},
		{"the third reserved bit", [][]byte{rawFrame(whole|rsv3, "a")}, nil, 1002},
		{"a reserved bit on a ping", [][]byte{rawFrame(fin|opPing|rsv1, "")}, nil, 1002},
		{"a compression bomb", [][]byte{rawFrame(whole|rsv1, bomb(t))}, nil, 1002},
		{"no mask", [][]byte{{whole, 1, 'a'}}, nil, 1002},
		{"a ping without a mask", [][]byte{{fin | opPing, 0}}, nil, 1002},
		{"a length of 2^63", [][]byte{append(binary.BigEndian.AppendUint64([]byte{whole, 0xff}, 1<<63), 0, 0, 0, 0)}, nil, 1009},
		{"a length of 2^63-1", [][]byte{append(binary.BigEndian.AppendUint64([]byte{whole, 0xff}, 1<<63-1), make([]byte, 4+64<<10+1)...)}, nil, 1009},
		{"a close without a code", [][]byte{rawFrame(fin|opClose, "")}, nil, websocket.CloseNoStatusReceived},
		{"a close", [][]byte{rawFrame(fin|opClose, closing(1000, "bye")), rawFrame(whole, "late")}, nil, 1000},
		{"a close of no UTF-8", [][]byte{rawFrame(fin|opClose, closing(1000, "\xff"))}, nil, 1002},
	}
	for _, opcode := range []byte{3, 4, 5, 6, 7, 11, 12, 13, 14, 15} {
		cases = append(cases, struct {
			name   string
			frames [][]byte
			got    []string
			code   int
		}{"an unknown opcode", [][]byte{rawFrame(fin|opcode, "")}, nil, 1002})
	}
	for _, code := range []int{0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000} {
		cases = append(cases, struct {
			name   string
			frames [][]byte
			got    []string
			code   int
		}{"a reserved close code", [][]byte{rawFrame(fin|opClose, closing(code, ""))}, nil, 1002})
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			for _, piece := range []int{1 << 20, 1} { // all at once, and byte by byte
				synctest.Test(t, func(t *testing.T) { sendFrames(t, test.frames, piece, test.got, test.code) })
			}
		})
	}
}

// sendFrames sends the frames in pieces of the given size. It checks the messages that the handler receives, and the
// close code.
func sendFrames(t *testing.T, frames [][]byte, piece int, want []string, code int) {
	t.Helper()
	h := start(t, newStore().options())
	c, session := connect(t, h, hub.JSON)
	for part := range slices.Chunk(slices.Concat(frames...), piece) {
		if _, err := c.ws.NetConn().Write(part); err != nil { // the server has closed the connection already
			break
		}
	}
	synctest.Wait()
	if got, _, _ := session.received(); !slices.Equal(got, want) {
		t.Errorf("%d messages came: %.40q, want %.40q", len(got), got, want)
	}
	if code == 0 {
		if n := h.Connections(); n != 1 {
			t.Error("the connection was closed")
		}
		return
	}
	if closed := c.closeError(t); closed.Code != code {
		t.Errorf("closed with %v, want %d", closed, code)
	}
	time.Sleep(10 * time.Second)
	if n := h.Connections(); n != 0 {
		t.Error("the connection is still there")
	}
}

// tooBigInFragments returns the frames of a message that exceeds the size limit before its last frame.
func tooBigInFragments() (frames [][]byte) {
	frames = append(frames, rawFrame(opText, "a"))
	for range 9 {
		frames = append(frames, rawFrame(opMore, strings.Repeat("x", 8<<10)))
	}
	return frames
}

// bomb returns 16 MiB of zeros, compressed to a small payload.
func bomb(t *testing.T) string {
	t.Helper()
	var small bytes.Buffer
	w, err := flate.NewWriter(&small, flate.BestCompression)
	if err == nil {
		_, err = w.Write(make([]byte, 16<<20))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return small.String()
}

// TestUnfinishedMessageClosesTheConnection has a client that begins a message and then sends only WebSocket pings. The
// connection must be closed.
func TestUnfinishedMessageClosesTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Release(nil)
		begun := time.Now()
		frames := slices.Concat(rawFrame(opText, "a"))
		for time.Since(begun) < 5*time.Minute {
			if _, err := c.ws.NetConn().Write(frames); err != nil {
				if !errors.Is(err, io.ErrClosedPipe) {
					t.Fatal(err)
				}
				break
			}
			time.Sleep(time.Second)
			frames = slices.Concat(rawFrame(opMore, "b"), rawFrame(fin|opPing, ""))
		}
		if closed := c.closeError(t); closed.Code != hub.CloseNoPong {
			t.Errorf("closed with %v", closed)
		}
		if took := time.Since(begun); took < 30*time.Second || took > 70*time.Second {
			t.Errorf("closed after %v", took)
		}
	})
}
