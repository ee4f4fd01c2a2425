package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the built server makes of bytes that no library would send. hub/rfc6455_test.go has the whole of the RFC, frame by
// frame; here is what could differ on a real socket.

// rawSocket is a connection whose bytes are made by hand.
type rawSocket struct {
	t    *testing.T
	name string // of the case
	conn net.Conn
	in   *bufio.Reader
}

func knock(t *testing.T, n *node, request string) *rawSocket {
	t.Helper()
	conn, err := net.Dial("tcp", n.url.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &rawSocket{t: t, conn: conn, in: bufio.NewReader(conn)}
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	s.send([]byte(request))
	return s
}

// handshake is a good one, with other lines; a line replaces the one of its name, and goes if it is empty.
func handshake(lines ...string) string {
	head := []string{
		"Host: localhost", "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		head = slices.DeleteFunc(head, func(old string) bool { return strings.HasPrefix(old, name+":") })
		if value != "" {
			head = append(head, line)
		}
	}
	return "GET /v1/socket HTTP/1.1\r\n" + strings.Join(head, "\r\n") + "\r\n\r\n"
}

// openRaw makes a socket.
func openRaw(t *testing.T, n *node, lines ...string) *rawSocket {
	t.Helper()
	s := knock(t, n, handshake(lines...))
	r, err := http.ReadResponse(s.in, nil)
	if err != nil || r.StatusCode != 101 || r.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Fatalf("no upgrade: %v, %v", r, err)
	}
	if offered := r.Header.Values("Sec-WebSocket-Extensions"); len(offered) > 0 {
		t.Errorf("extensions %q", offered)
	}
	return s
}

// send gives up when the server has closed: what it has said is still to be read.
func (s *rawSocket) send(b []byte) { _, _ = s.conn.Write(b) }

// drip sends each byte as a segment of its own.
func (s *rawSocket) drip(b []byte) {
	for i := range b {
		s.send(b[i : i+1])
	}
}

// frame reads one of the server's.
func (s *rawSocket) frame() (head byte, payload []byte, err error) {
	var b [8]byte
	if _, err = io.ReadFull(s.in, b[:2]); err != nil {
		return 0, nil, err
	}
	head, size := b[0], uint64(b[1])
	switch size {
	case 126:
		_, err = io.ReadFull(s.in, b[:2])
		size = uint64(binary.BigEndian.Uint16(b[:2]))
	case 127:
		_, err = io.ReadFull(s.in, b[:8])
		size = binary.BigEndian.Uint64(b[:8])
	}
	if err != nil || size > 1<<20 {
		return head, nil, fmt.Errorf("a frame of %d bytes: %w", size, err)
	}
	payload = make([]byte, size)
	_, err = io.ReadFull(s.in, payload)
	return head, payload, err
}

// mustSay fails unless this is what the server says next, its pings apart.
func (s *rawSocket) mustSay(head byte, payload string) {
	s.t.Helper()
	h, got, err := s.frame()
	for err == nil && h&0x08 == 0 {
		got = bytes.TrimPrefix(bytes.TrimSuffix(bytes.Trim(got, "\x00"), []byte("\n{}")), []byte("{}\n"))
		if len(got) > 0 && string(got) != "{}" {
			break
		}
		h, got, err = s.frame()
	}
	if err != nil || h != head || string(got) != payload {
		s.t.Errorf("got %#x %.200q, %v; want %#x %.200q", h, got, err, head, payload)
	}
}

// mustClose fails unless the server says goodbye with the code (0: with none) and, though that is not answered, hangs up.
func (s *rawSocket) mustClose(code int) {
	s.t.Helper()
	head, payload, err := s.frame()
	got := 0
	if len(payload) >= 2 {
		got = int(binary.BigEndian.Uint16(payload))
	}
	if err != nil || head != 0x88 || got != code {
		s.t.Errorf("%s: got %#x %.200q, %v; want to be closed with %d", s.name, head, payload, err, code)
		return
	}
	s.mustHangUp(10 * time.Second)
}

func (s *rawSocket) mustHangUp(within time.Duration) {
	s.t.Helper()
	s.conn.SetDeadline(time.Now().Add(within))
	if _, err := s.in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Errorf("%s: still open: %v", s.name, err)
	}
}

// masked is a frame of a client.
func masked(head byte, payload string) []byte {
	b := []byte{head}
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	mask := [4]byte{0x5a, 0x01, 0xff, 0x80}
	b = append(b, mask[:]...)
	for i := range len(payload) {
		b = append(b, payload[i]^mask[i%4])
	}
	return b
}

// TestRawSocket does all that at once, and then nobody is left.
func TestRawSocket(t *testing.T) {
	n := start(t, build(t, ""), t.TempDir(), "127.0.0.1:0")
	token := n.guest("Raw").Token
	t.Run("at once", func(t *testing.T) {
		t.Run("handshakes", func(t *testing.T) { t.Parallel(); rawHandshakes(t, n) })
		t.Run("frames", func(t *testing.T) { t.Parallel(); rawFrames(t, n) })
		t.Run("talk", func(t *testing.T) { t.Parallel(); rawTalk(t, n, token) })
		t.Run("golden", func(t *testing.T) { t.Parallel(); rawGolden(t, n, token) })
		t.Run("slow", func(t *testing.T) { t.Parallel(); rawSlow(t, n, token) })
	})
	eventually(t, 10*time.Second, "all are gone", func() bool { return n.metric("hongbao_connections") == 0 })
	n.guest("Still there")
}

func rawHandshakes(t *testing.T, n *node) {
	many := strings.Repeat("X-Many: of the same, and they all take place\r\n", 1000)
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"good", handshake(), 101},
		{"no Upgrade", handshake("Upgrade:"), 400},
		{"another Upgrade", handshake("Upgrade: h2c"), 400},
		{"no Connection", handshake("Connection:"), 400},
		{"another Connection", handshake("Connection: close"), 400},
		{"an old version", handshake("Sec-WebSocket-Version: 12"), 400},
		{"no key", handshake("Sec-WebSocket-Key:"), 400},
		{"a short key", handshake("Sec-WebSocket-Key: c2hvcnQ="), 400},
		{"a key of nonsense", handshake("Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!!!"), 400},
		{"a foreign page", handshake("Origin: https://evil.example.com"), 403},
		{"a bad token", handshake("Authorization: Bearer x"), 401},
		{"unknown subprotocols only", handshake("Sec-WebSocket-Protocol: mqtt, soap"), 400},
		{"no host", handshake("Host:"), 400},
		{"POST", strings.Replace(handshake(), "GET", "POST", 1), 405},
		{"no HTTP", "hello\r\n\r\n", 400},
		{"too long a header", handshake("X-Long: " + strings.Repeat("x", 32<<10)), 431},
		{"too many headers", strings.Replace(handshake(), "\r\n\r\n", "\r\n"+many+"\r\n", 1), 431},
	} {
		s := knock(t, n, c.request)
		r, err := http.ReadResponse(s.in, nil)
		if err != nil || r.StatusCode != c.status {
			t.Errorf("%s: %v, %v, want %d", c.name, r, err, c.status)
		}
		_ = s.conn.Close()
	}
	deflate := openRaw(t, n, "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits; server_no_context_takeover")
	deflate.send(masked(0xc1, "\xaa\x56\x2a\x51\xb2\x02\x00"))
	deflate.mustClose(1002)
	impatient := knock(t, n, handshake()+string(masked(0x81, "{}")))
	impatient.mustHangUp(10 * time.Second)
}

func rawFrames(t *testing.T, n *node) {
	var all sync.WaitGroup
	long := strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		name     string
		protobuf bool
		frames   []byte
		code     int // 0: closed without one
	}{
		{"no mask", false, []byte("\x81\x02{}"), 1002},
		{"a ping without a mask", false, []byte("\x89\x00"), 1002},
		{"a close without a mask", false, []byte("\x88\x00"), 1002},
		{"a reserved bit", false, masked(0xa1, "{}"), 1002},
		{"a bomb that nobody offered", false, masked(0xc1, strings.Repeat("\x00", 60_000)), 1002},
		{"a reserved bit on a ping", false, masked(0xc9, ""), 1002},
		{"an unknown opcode", false, masked(0x83, "{}"), 1002},
		{"an unknown control opcode", false, masked(0x8b, ""), 1002},
		{"a continuation of nothing", false, masked(0x80, "{}"), 1002},
		{"a message within another", false, slices.Concat(masked(0x01, "{"), masked(0x81, "}")), 1002},
		{"a ping in fragments", false, masked(0x09, ""), 1002},
		{"too long a ping", false, masked(0x89, strings.Repeat("p", 126)), 1002},
		{"one byte too many", false, masked(0x81, long+"x"), 1009},
		{"too big in fragments", false, slices.Concat(masked(0x01, long), masked(0x00, "x")), 1009},
		{"longer than anything", false, []byte("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"), 1009},
		{"no UTF-8", false, slices.Concat(masked(0x01, "{\"\xe7"), masked(0x80, "\"}")), 3501},
		{"nothing", false, masked(0x81, ""), 3501},
		{"no command", false, masked(0x81, "hello"), 3501},
		{"binary for JSON", false, masked(0x82, "{}"), 3501},
		{"text for Protobuf", true, masked(0x81, "\x00"), 3501},
		{"a close without a code", false, masked(0x88, ""), 0},
		{"half a code", false, masked(0x88, "\x03"), 0},
		{"a good close", false, slices.Concat(masked(0x88, "\x03\xe8bye"), masked(0x81, "late")), 1000},
		{"a code that nobody may send", false, masked(0x88, "\x03\xee"), 1002},
		{"a reason of no UTF-8", false, masked(0x88, "\x03\xe8\xff"), 1002},
	} {
		for _, send := range []func(*rawSocket, []byte){(*rawSocket).send, (*rawSocket).drip} {
			s := openRaw(t, n)
			if c.protobuf {
				s = openRaw(t, n, "Sec-WebSocket-Protocol: centrifuge-protobuf")
			}
			s.name = c.name
			all.Go(func() {
				part := min(len(c.frames), 1000) // what is long does not come to an end byte by byte
				send(s, c.frames[:part])
				s.send(c.frames[part:])
				s.mustClose(c.code)
			})
		}
	}
	all.Wait()
}

// connectRaw makes a session, by commands in JSON.
func connectRaw(t *testing.T, n *node, token string) *rawSocket {
	t.Helper()
	s := openRaw(t, n)
	s.drip(masked(0x81, `{"id":1,"connect":{"token":"`+token+`"}}`))
	if head, reply, err := s.frame(); err != nil || head != 0x81 || !bytes.HasPrefix(reply, []byte(`{"id":1,"connect":{`)) {
		t.Fatalf("connect: %#x %.200q, %v", head, reply, err)
	}
	return s
}

// rawTalk is what is unusual and allowed.
func rawTalk(t *testing.T, n *node, token string) {
	s := connectRaw(t, n, token)
	const reply = `{"id":2,"rpc":{"data":{"rooms":[]}}}`
	ask := `{"id":2,"rpc":{"method":"find_rooms","data":{"query":"零"}}}`
	s.send(masked(0x81, ask))
	s.mustSay(0x81, reply)

	pieces := masked(0x01, "")
	for i := range len(ask) {
		pieces = append(pieces, masked(0x00, ask[i:i+1])...)
	}
	s.send(slices.Concat(pieces, masked(0x89, "p"), masked(0x8a, "nobody asked"), masked(0x80, "")))
	s.mustSay(0x8a, "p")
	s.mustSay(0x81, reply)

	s.send(masked(0x89, strings.Repeat("p", 125)))
	s.mustSay(0x8a, strings.Repeat("p", 125))

	s.send(masked(0x81, ask+strings.Repeat(" ", 64<<10-len(ask))))
	s.mustSay(0x81, reply)
	s.send(masked(0x88, "\x0f\xa1bye"))
	s.mustClose(4001)
}

// rawGolden asks, byte by byte, for what there is a golden frame of.
func rawGolden(t *testing.T, n *node, token string) {
	const request = `{"room":"r","key":"k","mode":"lucky","total":0,"count":1,"commitment":""}`
	inJSON := connectRaw(t, n, token)
	inJSON.drip(masked(0x81, `{"id":7,"rpc":{"method":"send_packet","data":`+request+`}}`))
	inJSON.mustSay(0x81, strings.TrimSpace(goldenFrame(t, "error-bad_request.json")))

	inProtobuf := openRaw(t, n, "Sec-WebSocket-Protocol: centrifuge-protobuf")
	inProtobuf.drip(masked(0x82, field(0, field(4<<3|2, field(1<<3|2, token)), "\x08\x01")))
	if head, reply, err := inProtobuf.frame(); err != nil || head != 0x82 || !bytes.Contains(reply, []byte("Raw")) {
		t.Fatalf("connect: %#x %.200q, %v", head, reply, err)
	}
	call := field(1<<3|2, request) + field(2<<3|2, "send_packet")
	inProtobuf.drip(masked(0x82, field(0, field(13<<3|2, call), "\x08\x07")))
	want, err := hex.DecodeString(strings.TrimSpace(goldenFrame(t, "error-bad_request.hex")))
	if err != nil {
		t.Fatal(err)
	}
	inProtobuf.mustSay(0x82, field(0, string(want)))
}

// field is one of a Protobuf message, of which what comes before are others; tag 0: the message itself, behind its length.
func field(tag byte, content string, before ...string) string {
	content = strings.Join(before, "") + content
	b := []byte{tag}
	if tag == 0 {
		b = nil
	}
	return string(binary.AppendUvarint(b, uint64(len(content)))) + content
}

func goldenFrame(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../web/wire/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rawSlow is clients that never come to the point: each has its time, and others are served meanwhile.
func rawSlow(t *testing.T, n *node, token string) {
	var all sync.WaitGroup
	over := make(chan struct{})
	began := time.Now()
	for range 64 {
		s := knock(t, n, "GET /v1/socket HTTP/1.1\r\nHost: localhost\r\n")
		go s.dawdle("X-Slow: "+strings.Repeat("x", 100), over)
		all.Go(func() {
			_, _ = io.ReadAll(s.in)
			if took := time.Since(began); took < 9*time.Second || took > 20*time.Second {
				t.Errorf("a handshake could take %v", took)
			}
		})
	}
	for _, first := range []string{"", string(masked(0x81, `{"id":1,"connect":{"token":"`+token+`"}}`))} {
		s := openRaw(t, n)
		go s.dawdle(first, over)
		all.Go(func() {
			s.mustClose(3502)
			if took := time.Since(began); took < 8*time.Second || took > 20*time.Second {
				t.Errorf("a connect could take %v", took)
			}
		})
	}
	connectRaw(t, n, token)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("meanwhile others wait for %v", took)
	}
	all.Wait()
	close(over)
}

// dawdle sends a byte a second.
func (s *rawSocket) dawdle(text string, over <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for _, b := range []byte(text) {
		s.send([]byte{b})
		select {
		case <-tick.C:
		case <-over:
			return
		}
	}
}
