package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

// heardOf has an ear hear b in pieces of so many bytes.
func heardOf(b []byte, piece, size int) (heard int, stamps []string) {
	var e ear
	for len(b) > 0 {
		n := min(piece, len(b))
		e.take(b[:n], size, func(stamp []byte) { stamps = append(stamps, string(stamp)) })
		b = b[n:]
	}
	return e.heard, stamps
}

// TestEar shows that messages are counted however they share frames, and however the network cuts these.
func TestEar(t *testing.T) {
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
		heard, stamps := heardOf(all, piece, size)
		if heard != want || len(stamps) != want {
			t.Errorf("in pieces of %d: %d messages, %d stamps, want %d", piece, heard, len(stamps), want)
		}
		for _, stamp := range stamps {
			if stamp != string(message[:stampSize]) {
				t.Fatalf("in pieces of %d: stamp %q", piece, stamp)
			}
		}
	}
	if heard, _ := heardOf(all[:len(all)-1], len(all), size); heard != want-1 {
		t.Errorf("%d messages, the last of which is not there yet, want %d", heard, want-1)
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

// TestAudience shows that a message too many is no good result, and one too few is none.
func TestAudience(t *testing.T) {
	_, err := onSite(func(s *site) (_ struct{}, _ error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, err := newAudience(ctx, s, 3)
		if err != nil {
			return struct{}{}, err
		}
		payload, err := a.start(order{Size: broadcastPayload})
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
		for most, begin := 0, time.Now(); most < 2 && time.Since(begin) < hearPatience; {
			got, err := a.ask(order{})
			if err != nil {
				return struct{}{}, err
			}
			most = got.Most
		}
		if _, err := a.finish(ctx, 1); err == nil {
			t.Error("nobody minds that one has heard a message more")
		}
		time.AfterFunc(10*time.Millisecond, cancel)
		if err := a.await(ctx, 2); err == nil {
			t.Error("nobody minds that two have heard a message less")
		}
		return struct{}{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}
