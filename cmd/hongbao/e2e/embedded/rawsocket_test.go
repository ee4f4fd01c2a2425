package embedded

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
)

// These tests send the built server bytes that no library would send. hub/rfc6455_test.go covers the RFC frame by frame; here is
// what could differ on a real socket.

// rawSocket is a connection whose bytes the test makes by hand.
type rawSocket struct {
	e2e.RawSocket
	t    *testing.T
	name string // of the case, for messages
}

// dial connects and sends a request.
func dial(t *testing.T, server *e2e.Server, request string) *rawSocket {
	t.Helper()
	conn, err := net.Dial("tcp", server.URL.Host)
	e2e.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	s := &rawSocket{t: t, RawSocket: e2e.RawSocket{Conn: conn, In: bufio.NewReader(conn)}}
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	s.Send([]byte(request))
	return s
}

// openRaw opens a WebSocket, with other lines of the handshake.
func openRaw(t *testing.T, server *e2e.Server, lines ...string) *rawSocket {
	t.Helper()
	s := dial(t, server, e2e.Handshake(lines...))
	r, err := http.ReadResponse(s.In, nil)
	if err != nil || r.StatusCode != 101 || r.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Fatalf("handshake: response %v, error %v, want status 101 and the accept key of the RFC's example", r, err)
	}
	if offered := r.Header.Values("Sec-WebSocket-Extensions"); len(offered) > 0 {
		t.Errorf("the server agreed to extensions %q, want none", offered)
	}
	return s
}

// drip sends each byte as a TCP segment of its own.
func (s *rawSocket) drip(b []byte) {
	for i := range b {
		s.Send(b[i : i+1])
	}
}

// mustRead fails the test unless the server's next frame, pings of the protocol apart, is this one.
func (s *rawSocket) mustRead(head byte, payload string) {
	s.t.Helper()
	h, got, err := s.ReadFrame()
	for err == nil && h&0x08 == 0 {
		got = bytes.TrimPrefix(bytes.TrimSuffix(bytes.Trim(got, "\x00"), []byte("\n{}")), []byte("{}\n"))
		if len(got) > 0 && string(got) != "{}" {
			break
		}
		h, got, err = s.ReadFrame()
	}
	if err != nil || h != head || string(got) != payload {
		s.t.Errorf("read frame %#x %.200q, error %v; want %#x %.200q", h, got, err, head, payload)
	}
}

// mustClose fails the test unless the server sends a close frame with the code (0: without one), and closes the connection
// although the client does not answer.
func (s *rawSocket) mustClose(code int) {
	s.t.Helper()
	head, payload, err := s.ReadFrame()
	got := 0
	if len(payload) >= 2 {
		got = int(binary.BigEndian.Uint16(payload))
	}
	if err != nil || head != 0x88 || got != code {
		s.t.Errorf("%s: read frame %#x %.200q, error %v; want a close frame with code %d", s.name, head, payload, err, code)
		return
	}
	s.mustDisconnect(10 * time.Second)
}

func (s *rawSocket) mustDisconnect(within time.Duration) {
	s.t.Helper()
	s.Conn.SetDeadline(time.Now().Add(within))
	if _, err := s.In.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Errorf("%s: the connection is still open after %v (%v), want it closed by the server", s.name, within, err)
	}
}

// TestRawSocket sends bad, unusual and slow bytes on many sockets at once. Afterwards no connection is left on the server.
func TestRawSocket(t *testing.T) {
	enginetest.Nightly(t, "whole")
	server := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0")
	token := server.Guest("Raw").Token
	t.Run("at once", func(t *testing.T) {
		t.Run("handshakes", func(t *testing.T) { t.Parallel(); rawHandshakes(t, server) })
		t.Run("frames", func(t *testing.T) { t.Parallel(); rawFrames(t, server) })
		t.Run("unusual but allowed", func(t *testing.T) { t.Parallel(); rawUnusual(t, server, token) })
		t.Run("golden", func(t *testing.T) { t.Parallel(); rawGolden(t, server, token) })
		t.Run("slow", func(t *testing.T) { t.Parallel(); rawSlow(t, server, token) })
	})
	e2e.Eventually(t, 10*time.Second, "hongbao_connections is 0", func() bool { return server.Metric("hongbao_connections") == 0 })
	server.Guest("later guest") // the server still serves
}

func rawHandshakes(t *testing.T, server *e2e.Server) {
	many := strings.Repeat("X-Many: one of many headers of the same name\r\n", 1000)
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"good", e2e.Handshake(), 101},
		{"no Upgrade", e2e.Handshake("Upgrade:"), 400},
		{"another Upgrade", e2e.Handshake("Upgrade: h2c"), 400},
		{"no Connection", e2e.Handshake("Connection:"), 400},
		{"another Connection", e2e.Handshake("Connection: close"), 400},
		{"an old version", e2e.Handshake("Sec-WebSocket-Version: 12"), 400},
		{"no key", e2e.Handshake("Sec-WebSocket-Key:"), 400},
		{"a short key", e2e.Handshake("Sec-WebSocket-Key: c2hvcnQ="), 400},
		{"a key of nonsense", e2e.Handshake("Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!!!"), 400},
		{"a page of another origin", e2e.Handshake("Origin: https://evil.example.com"), 403},
		{"a bad token", e2e.Handshake("Authorization: Bearer x"), 401},
		{"unknown subprotocols only", e2e.Handshake("Sec-WebSocket-Protocol: mqtt, soap"), 400},
		{"no host", e2e.Handshake("Host:"), 400},
		{"POST", strings.Replace(e2e.Handshake(), "GET", "POST", 1), 405},
		{"no HTTP", "hello\r\n\r\n", 400},
		{"too long a header", e2e.Handshake("X-Long: " + strings.Repeat("x", 32<<10)), 431},
		{"too many headers", strings.Replace(e2e.Handshake(), "\r\n\r\n", "\r\n"+many+"\r\n", 1), 431},
	} {
		s := dial(t, server, c.request)
		r, err := http.ReadResponse(s.In, nil)
		if err != nil || r.StatusCode != c.status {
			t.Errorf("handshake with %s: response %v, error %v, want status %d", c.name, r, err, c.status)
		}
		_ = s.Conn.Close()
	}
	deflate := openRaw(t, server, "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits; server_no_context_takeover")
	deflate.Send(e2e.MaskedFrame(0xc1, "\xaa\x56\x2a\x51\xb2\x02\x00"))
	deflate.mustClose(1002)
	impatient := dial(t, server, e2e.Handshake()+string(e2e.MaskedFrame(0x81, "{}")))
	impatient.mustDisconnect(10 * time.Second)
}

func rawFrames(t *testing.T, server *e2e.Server) {
	var all sync.WaitGroup
	long := strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		name     string
		protobuf bool
		frames   []byte
		code     int // of the close frame; 0: it has none
	}{
		{"no mask", false, []byte("\x81\x02{}"), 1002},
		{"a ping without a mask", false, []byte("\x89\x00"), 1002},
		{"a close without a mask", false, []byte("\x88\x00"), 1002},
		{"a reserved bit", false, e2e.MaskedFrame(0xa1, "{}"), 1002},
		{"compressed data without the extension", false, e2e.MaskedFrame(0xc1, strings.Repeat("\x00", 60_000)), 1002},
		{"a reserved bit on a ping", false, e2e.MaskedFrame(0xc9, ""), 1002},
		{"an unknown opcode", false, e2e.MaskedFrame(0x83, "{}"), 1002},
		{"an unknown control opcode", false, e2e.MaskedFrame(0x8b, ""), 1002},
		{"a continuation of nothing", false, e2e.MaskedFrame(0x80, "{}"), 1002},
		{"a message within another", false, slices.Concat(e2e.MaskedFrame(0x01, "{"), e2e.MaskedFrame(0x81, "}")), 1002},
		{"a ping in fragments", false, e2e.MaskedFrame(0x09, ""), 1002},
		{"too long a ping", false, e2e.MaskedFrame(0x89, strings.Repeat("p", 126)), 1002},
		{"one byte too many", false, e2e.MaskedFrame(0x81, long+"x"), 1009},
		{"too big in fragments", false, slices.Concat(e2e.MaskedFrame(0x01, long), e2e.MaskedFrame(0x00, "x")), 1009},
		{"the largest length there is", false, []byte("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"), 1009},
		{"no UTF-8", false, slices.Concat(e2e.MaskedFrame(0x01, "{\"\xe7"), e2e.MaskedFrame(0x80, "\"}")), 3501},
		{"nothing", false, e2e.MaskedFrame(0x81, ""), 3501},
		{"no command", false, e2e.MaskedFrame(0x81, "hello"), 3501},
		{"binary for JSON", false, e2e.MaskedFrame(0x82, "{}"), 3501},
		{"text for Protobuf", true, e2e.MaskedFrame(0x81, "\x00"), 3501},
		{"a close without a code", false, e2e.MaskedFrame(0x88, ""), 0},
		{"half a code", false, e2e.MaskedFrame(0x88, "\x03"), 0},
		{"a good close", false, slices.Concat(e2e.MaskedFrame(0x88, "\x03\xe8bye"), e2e.MaskedFrame(0x81, "late")), 1000},
		{"a reserved close code", false, e2e.MaskedFrame(0x88, "\x03\xee"), 1002},
		{"a reason of no UTF-8", false, e2e.MaskedFrame(0x88, "\x03\xe8\xff"), 1002},
	} {
		for _, send := range []func(*rawSocket, []byte){(*rawSocket).Send, (*rawSocket).drip} {
			s := openRaw(t, server)
			if c.protobuf {
				s = openRaw(t, server, "Sec-WebSocket-Protocol: centrifuge-protobuf")
			}
			s.name = c.name
			all.Go(func() {
				part := min(len(c.frames), 1000) // sending a long frame byte by byte would take too long
				send(s, c.frames[:part])
				s.Send(c.frames[part:])
				s.mustClose(c.code)
			})
		}
	}
	all.Wait()
}

// connectRaw opens a socket and connects it with a JSON command.
func connectRaw(t *testing.T, server *e2e.Server, token string) *rawSocket {
	t.Helper()
	s := openRaw(t, server)
	s.drip(e2e.MaskedFrame(0x81, `{"id":1,"connect":{"token":"`+token+`"}}`))
	if head, reply, err := s.ReadFrame(); err != nil || head != 0x81 || !bytes.HasPrefix(reply, []byte(`{"id":1,"connect":{`)) {
		t.Fatalf("connect: read frame %#x %.200q, error %v, want a connect reply", head, reply, err)
	}
	return s
}

// rawUnusual sends frames that are unusual and allowed: one byte per fragment, control frames between fragments, the largest sizes.
func rawUnusual(t *testing.T, server *e2e.Server, token string) {
	s := connectRaw(t, server, token)
	const reply = `{"id":2,"rpc":{"data":{"rooms":[]}}}`
	request := `{"id":2,"rpc":{"method":"find_rooms","data":{"query":"零"}}}`
	s.Send(e2e.MaskedFrame(0x81, request))
	s.mustRead(0x81, reply)

	pieces := e2e.MaskedFrame(0x01, "")
	for i := range len(request) {
		pieces = append(pieces, e2e.MaskedFrame(0x00, request[i:i+1])...)
	}
	s.Send(slices.Concat(pieces, e2e.MaskedFrame(0x89, "p"), e2e.MaskedFrame(0x8a, "unsolicited"), e2e.MaskedFrame(0x80, "")))
	s.mustRead(0x8a, "p")
	s.mustRead(0x81, reply)

	s.Send(e2e.MaskedFrame(0x89, strings.Repeat("p", 125)))
	s.mustRead(0x8a, strings.Repeat("p", 125))

	s.Send(e2e.MaskedFrame(0x81, request+strings.Repeat(" ", 64<<10-len(request))))
	s.mustRead(0x81, reply)
	s.Send(e2e.MaskedFrame(0x88, "\x0f\xa1bye"))
	s.mustClose(4001)
}

// rawGolden sends, byte by byte, a request whose reply is one of the golden frames.
func rawGolden(t *testing.T, server *e2e.Server, token string) {
	const request = `{"room":"r","key":"k","mode":"lucky","total":0,"count":1,"commitment":""}`
	inJSON := connectRaw(t, server, token)
	inJSON.drip(e2e.MaskedFrame(0x81, `{"id":7,"rpc":{"method":"send_packet","data":`+request+`}}`))
	inJSON.mustRead(0x81, strings.TrimSpace(goldenFrame(t, "error-bad_request.json")))

	inProtobuf := openRaw(t, server, "Sec-WebSocket-Protocol: centrifuge-protobuf")
	inProtobuf.drip(e2e.MaskedFrame(0x82, field(0, field(4<<3|2, field(1<<3|2, token)), "\x08\x01")))
	if head, reply, err := inProtobuf.ReadFrame(); err != nil || head != 0x82 || !bytes.Contains(reply, []byte("Raw")) {
		t.Fatalf("connect: read frame %#x %.200q, error %v, want a connect reply", head, reply, err)
	}
	call := field(1<<3|2, request) + field(2<<3|2, "send_packet")
	inProtobuf.drip(e2e.MaskedFrame(0x82, field(0, field(13<<3|2, call), "\x08\x07")))
	want, err := hex.DecodeString(strings.TrimSpace(goldenFrame(t, "error-bad_request.hex")))
	if err != nil {
		t.Fatal(err)
	}
	inProtobuf.mustRead(0x82, field(0, string(want)))
}

// field encodes a field of a Protobuf message after encoded fields that come before it. With tag 0 it encodes the message itself
// behind its length.
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
	text, err := os.ReadFile("../../../../web/wire/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rawSlow connects clients that send a byte a second. The server closes each after its time limit, and serves others meanwhile.
func rawSlow(t *testing.T, server *e2e.Server, token string) {
	var all sync.WaitGroup
	stop := make(chan struct{})
	began := time.Now()
	for range 64 {
		s := dial(t, server, "GET /v1/socket HTTP/1.1\r\nHost: localhost\r\n")
		go s.sendSlowly("X-Slow: "+strings.Repeat("x", 100), stop)
		all.Go(func() {
			_, _ = io.ReadAll(s.In)
			if took := time.Since(began); took < 9*time.Second || took > 20*time.Second {
				t.Errorf("a handshake that does not end was closed after %v, want 9s to 20s", took)
			}
		})
	}
	for _, first := range []string{"", string(e2e.MaskedFrame(0x81, `{"id":1,"connect":{"token":"`+token+`"}}`))} {
		s := openRaw(t, server)
		go s.sendSlowly(first, stop)
		all.Go(func() {
			s.mustClose(3502)
			if took := time.Since(began); took < 8*time.Second || took > 20*time.Second {
				t.Errorf("a socket that does not connect was closed after %v, want 8s to 20s", took)
			}
		})
	}
	connectRaw(t, server, token)
	took := time.Since(began)
	all.Wait()
	close(stop)
	e2e.MustTake(t, "connecting another client while slow clients were open", took, 5*time.Second)
}

// sendSlowly sends a byte a second.
func (s *rawSocket) sendSlowly(text string, stop <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for _, b := range []byte(text) {
		s.Send([]byte{b})
		select {
		case <-tick.C:
		case <-stop:
			return
		}
	}
}
