package hub

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// quiet is a Handler that does nothing.
type quiet struct{}

func (quiet) Frame(bool, []byte) bool { return false }
func (quiet) Signal(string, []byte)   {}
func (quiet) Idle() bool              { return true }
func (quiet) Closed()                 {}

func quietOptions() Options {
	return Options{
		Encode:   func(_ Encoding, _ string, m Message) []byte { return m.Data },
		Ping:     func(Encoding) []byte { return []byte("{}") },
		Fetch:    func(context.Context, []Span) (map[string][]Message, error) { return nil, nil },
		LastSeqs: func(context.Context, []string) (map[string]int64, error) { return nil, nil },
	}
}

// TestQueueGivesBuffersBack looks at a connection after a busy time.
func TestQueueGivesBuffersBack(t *testing.T) {
	c := &Conn{hub: New(quietOptions())}
	c.flushing = true // no flusher is started: the test takes
	for range 2 * keepItems {
		c.enqueue(item{frame: newFrame(JSON, []byte("x"))})
	}
	b := c.take()
	if len(b.items) != 2*keepItems || c.queue != nil {
		t.Fatalf("took %d items", len(b.items))
	}
	c.hub.pools.giveBatch(b)
	if c.take() != nil || c.flushing {
		t.Error("the flusher does not end with the queue")
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, e := range []envelope{
		{kind: kindMessage, seq: 0, data: []byte("loose")},
		{kind: kindMessage, seq: 1 << 62, data: nil},
		{kind: kindLast, seq: 7, last: "user:ann", data: []byte("her last")},
		{kind: kindLate, seq: 8, data: []byte("no hurry")},
		{kind: kindSignal, data: []byte("signal")},
		{kind: kindNotice, data: []byte("notice")},
	} {
		f.Add(encodeEnvelope(e))
	}
	f.Add([]byte{})
	f.Add([]byte("m"))
	f.Add([]byte("?unknown"))
	f.Add([]byte("x\x01\x05ab"))
	f.Add(append([]byte("m"), binary.AppendUvarint(nil, 1<<63)...))
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, err := parseEnvelope(payload)
		if err != nil {
			return
		}
		again, err := parseEnvelope(encodeEnvelope(e))
		if err != nil || again.kind != e.kind || again.seq != e.seq || again.last != e.last || string(again.data) != string(e.data) {
			t.Errorf("%+v came back as %+v, %v", e, again, err)
		}
		if e.seq < 0 {
			t.Errorf("seq %d", e.seq)
		}
	})
}

func TestFrames(t *testing.T) {
	for _, size := range []int{0, 1, 125, 126, 127, 128, 65535, 65536, 200_000} {
		payload := strings.Repeat("x", size)
		for _, e := range []Encoding{JSON, Protobuf} {
			want := payload
			if e == Protobuf {
				want = string(binary.AppendUvarint(nil, uint64(size))) + payload
			}
			frame := newFrame(e, []byte(payload))
			if string(body(frame)) != want || len(frame) != headerLen(len(want))+len(want) || cap(frame) != len(frame) {
				t.Errorf("%d bytes: a frame of %d with a body of %d", size, len(frame), len(body(frame)))
			}
		}
	}
	long := newClose(3001, strings.Repeat("é", 100))
	if len(long) != 2+2+122 || long[1] != 124 {
		t.Errorf("a close frame of %d bytes, want the reason cut before the rune that does not fit", len(long))
	}
	if got := fmt.Sprintf("% x", newClose(0, "")); got != "88 00" {
		t.Errorf("an empty close frame is %s", got)
	}
}
