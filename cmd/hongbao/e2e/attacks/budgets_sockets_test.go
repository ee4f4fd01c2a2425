package attacks

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/cmd/hongbao/e2e"
)

// TestBudgetsSocketsLeaveOpenFiles opens 400 sockets, and then 400 connections without a request, on a server that may have 300 open
// files. The server must refuse some of each, stay ready, and serve clients again afterwards.
func TestBudgetsSocketsLeaveOpenFiles(t *testing.T) {
	s := e2e.Start(t, withFewFiles(t, e2e.Build(t, ""), 300), t.TempDir(), "127.0.0.1:0")
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	refused := 0
	for range 400 {
		ws, response, err := websocket.DefaultDialer.Dial(s.SocketURL(false), nil)
		switch {
		case err == nil:
			open = append(open, ws.NetConn())
		case response != nil && response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") != "":
			refused++
		default:
			t.Fatalf("socket %d: %v, want an upgrade or status 503 with Retry-After", len(open), err)
		}
	}
	if len(open) < 100 || refused == 0 {
		t.Errorf("%d sockets open and %d refused, want at least 100 and 1", len(open), refused)
	}
	for range 400 {
		if conn, err := net.Dial("tcp", s.URL.Host); err == nil {
			open = append(open, conn)
		}
	}
	if status, _ := s.Ready(); status != http.StatusOK {
		t.Errorf("/readyz: status %d while clients hold all that they may, want 200", status)
	}
	for _, conn := range open {
		_ = conn.Close()
	}
	e2e.Eventually(t, 30*time.Second, "the server accepts sockets again", func() bool {
		ws, _, err := websocket.DefaultDialer.Dial(s.SocketURL(false), nil)
		if err == nil {
			_ = ws.Close()
		}
		return err == nil
	})
}

// TestBudgetsIdleConnectionsOfAnAddress holds all connections of a server from one address: half without a request, half idle after
// one. Clients of another address must be answered all the same.
func TestBudgetsIdleConnectionsOfAnAddress(t *testing.T) {
	s := e2e.Start(t, withFewFiles(t, e2e.Build(t, ""), 400), t.TempDir(), "127.0.0.1:0")
	for n := range 400 {
		conn, err := net.Dial("tcp", s.URL.Host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if n%2 == 0 {
			_, _ = fmt.Fprintf(conn, "GET /v1/openapi.json HTTP/1.1\r\nHost: %s\r\n\r\n", s.URL.Host)
		}
	}
	for n := range 20 {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
		elsewhere := http.Client{Transport: &http.Transport{DialContext: from.DialContext, DisableKeepAlives: n%2 == 0}}
		response, err := elsewhere.Get("http://" + s.URL.Host + "/v1/openapi.json")
		if err != nil {
			t.Fatalf("request %d from another address: %v, want an answer", n, err)
		}
		_ = response.Body.Close()
		t.Cleanup(elsewhere.CloseIdleConnections)
	}
	if closed := s.Metric("hongbao_connections_closed_total"); closed < 96 {
		t.Errorf("%.0f connections were closed, want at least the 96 for which there was no place", closed)
	}
}

// TestBudgetsSocketsOfAnAddress opens sockets of one address behind a trusted proxy until they are refused. Another address must not be.
func TestBudgetsSocketsOfAnAddress(t *testing.T) {
	s := start(t, "HONGBAO_LIMITS=on", "HONGBAO_TRUSTED_PROXIES=127.0.0.1", "HONGBAO_MAX_SOCKETS_PER_ADDRESS=20")
	dial := func(address string) (status int) {
		t.Helper()
		ws, response, err := websocket.DefaultDialer.Dial(s.SocketURL(false), http.Header{"X-Forwarded-For": {address}})
		if err == nil {
			t.Cleanup(func() { _ = ws.Close() })
		} else if response == nil {
			t.Fatal(err)
		}
		return response.StatusCode
	}
	for i := range 20 {
		if status := dial("192.0.2.1"); status != http.StatusSwitchingProtocols {
			t.Fatalf("socket %d: status %d, want 101", i, status)
		}
	}
	if status := dial("192.0.2.1"); status != http.StatusTooManyRequests {
		t.Errorf("the 21st socket of an address: status %d, want 429", status)
	}
	if status := dial("192.0.2.2"); status != http.StatusSwitchingProtocols {
		t.Errorf("another address: status %d, want 101", status)
	}
}

// withFewFiles returns a program that runs the binary with a limit of open files.
func withFewFiles(t *testing.T, binary string, files int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hongbao")
	e2e.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nulimit -n %d && exec %q \"$@\"\n", files, binary), 0o700))
	return path
}
