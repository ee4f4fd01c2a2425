package embedded

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
)

// These tests send the built server bytes that no library would send. hub/rfc6455_test.go covers the RFC frame by frame, and
// hub/internal/socket covers messages that arrive in pieces. Here are handshakes, and clients that are too slow.

// rawSocket is a connection whose bytes the test makes by hand.
type rawSocket struct {
	e2e.RawSocket
	t *testing.T
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
		s.t.Errorf("read frame %#x %.200q, error %v; want a close frame with code %d", head, payload, err, code)
		return
	}
	s.mustDisconnect(10 * time.Second)
}

func (s *rawSocket) mustDisconnect(within time.Duration) {
	s.t.Helper()
	s.Conn.SetDeadline(time.Now().Add(within))
	if _, err := s.In.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Errorf("the connection is still open after %v (%v), want it closed by the server", within, err)
	}
}

// TestRawSocket sends bad and slow handshakes on many sockets at once. Afterwards no connection is left on the server.
func TestRawSocket(t *testing.T) {
	enginetest.Nightly(t, "whole")
	server := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0")
	token := server.Guest("Raw").Token
	t.Run("at once", func(t *testing.T) {
		t.Run("handshakes", func(t *testing.T) { t.Parallel(); rawHandshakes(t, server) })
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

// connectRaw opens a socket and connects it with a JSON command.
func connectRaw(t *testing.T, server *e2e.Server, token string) *rawSocket {
	t.Helper()
	s := openRaw(t, server)
	s.Send(e2e.MaskedFrame(0x81, `{"id":1,"connect":{"token":"`+token+`"}}`))
	if head, reply, err := s.ReadFrame(); err != nil || head != 0x81 || !bytes.HasPrefix(reply, []byte(`{"id":1,"connect":{`)) {
		t.Fatalf("connect: read frame %#x %.200q, error %v, want a connect reply", head, reply, err)
	}
	return s
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
