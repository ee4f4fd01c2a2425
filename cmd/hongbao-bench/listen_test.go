package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

// countIn passes b to a frameCounter in pieces of the given length, and returns what it has counted.
func countIn(b []byte, piece, size int) (received int, stamps []string) {
	var e frameCounter
	for len(b) > 0 {
		n := min(piece, len(b))
		e.take(b[:n], size, func(stamp []byte) { stamps = append(stamps, string(stamp)) })
		b = b[n:]
	}
	return e.received, stamps
}

// TestFrameCounter checks that messages are counted however they share frames, and however the network cuts the frames.
func TestFrameCounter(t *testing.T) {
	const size = 200
	message := []byte(strings.Repeat("1", stampSize) + strings.Repeat("}", size-stampSize))
	joined := func(n int) []byte { return bytes.TrimSuffix(bytes.Repeat(append(message, '\n'), n), []byte("\n")) }
	long := joined(400) // more than 64 KiB
	all := bytes.Join([][]byte{
		textFrame(message), {0x89, 2, '{', '}'}, textFrame(joined(3)), textFrame(message), {0x81, 2, '{', '}'},
		append(binary.BigEndian.AppendUint64([]byte{0x81, 127}, uint64(len(long))), long...), textFrame(message),
	}, nil)
	const want = 1 + 3 + 1 + 400 + 1
	for _, piece := range []int{1, 3, 19, 200, 201, 204, 205, 5000, len(all)} {
		received, stamps := countIn(all, piece, size)
		if received != want || len(stamps) != want {
			t.Errorf("in pieces of %d: %d messages, %d stamps, want %d", piece, received, len(stamps), want)
		}
		for _, stamp := range stamps {
			if stamp != string(message[:stampSize]) {
				t.Fatalf("in pieces of %d: stamp %q", piece, stamp)
			}
		}
	}
	if received, _ := countIn(all[:len(all)-1], len(all), size); received != want-1 {
		t.Errorf("%d messages without the last byte, want %d", received, want-1)
	}
}

func TestStamp(t *testing.T) {
	due := time.Now()
	message := []byte(strings.Repeat("x", 30))
	putStamp(message, due)
	got, err := parseStamp(message[:stampSize])
	if err != nil || !got.Equal(due) || len(message) != 30 || message[stampSize] != 'x' {
		t.Errorf("%s: %v, %v, want %v", message, got, err, due)
	}
}

// TestSocketGroup sends a message too many, and one too few. Each must make the round fail.
func TestSocketGroup(t *testing.T) {
	_, err := onTestbed(func(s *testbed) (_ struct{}, _ error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, err := newSocketGroup(ctx, s, 3)
		if err != nil {
			return struct{}{}, err
		}
		payload, err := a.start(countRequest{Size: broadcastPayload})
		if err != nil {
			return struct{}{}, err
		}
		_ = a.publish(payload)
		if got, err := a.finish(ctx, 1); err != nil || got.All != 1 {
			t.Errorf("one message: %+v, %v", got, err)
		}
		if _, err := a.conns[1].NetConn().Write(textFrame(payload)); err != nil {
			return struct{}{}, err
		}
		for most, begin := 0, time.Now(); most < 2 && time.Since(begin) < receiveTimeout; {
			got, err := a.ask(countRequest{})
			if err != nil {
				return struct{}{}, err
			}
			most = got.Most
		}
		if _, err := a.finish(ctx, 1); err == nil {
			t.Error("one client received a message more: no error")
		}
		time.AfterFunc(10*time.Millisecond, cancel)
		if err := a.await(ctx, 2); err == nil {
			t.Error("two clients received a message less: no error")
		}
		return struct{}{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}
