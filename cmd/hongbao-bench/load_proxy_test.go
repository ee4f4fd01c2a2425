package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"
)

// faultProxy is a proxy between users and a server. It passes the lines of each frame that the server sends to change,
// and sends the result instead.
type faultProxy struct {
	*httptest.Server
	upstream string
	change   func(lines [][]byte) [][]byte // nil: close the connection
}

func newFaultProxy(t *testing.T, upstream string, change func(lines [][]byte) [][]byte) *faultProxy {
	t.Helper()
	target, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	l := &faultProxy{upstream: "ws" + strings.TrimPrefix(upstream, "http") + "v1/socket", change: change}
	honest := httputil.NewSingleHostReverseProxy(target)
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/socket" {
			honest.ServeHTTP(w, r)
			return
		}
		l.proxy(w, r)
	}))
	t.Cleanup(l.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return l
}

// proxy passes frames on, with one upstream socket for each client socket.
func (l *faultProxy) proxy(w http.ResponseWriter, r *http.Request) {
	server, _, err := websocket.DefaultDialer.DialContext(context.Background(), l.upstream, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer client.Close()
	go func() {
		defer server.Close()
		for {
			kind, frame, err := client.ReadMessage()
			if err != nil || server.WriteMessage(kind, frame) != nil {
				return
			}
		}
	}()
	for {
		kind, frame, err := server.ReadMessage()
		if err != nil {
			return
		}
		lines := l.change(bytes.Split(frame, []byte("\n")))
		if lines == nil || client.WriteMessage(kind, bytes.Join(lines, []byte("\n"))) != nil {
			return
		}
	}
}

var pub = []byte(`"pub":`)

// nth changes one publication only.
func nth(n int64, change func(line []byte) [][]byte) func([][]byte) [][]byte {
	var seen atomic.Int64
	return func(lines [][]byte) (changed [][]byte) {
		changed = [][]byte{}
		for _, line := range lines {
			if bytes.Contains(line, pub) && seen.Add(1) == n {
				changed = append(changed, change(line)...)
			} else {
				changed = append(changed, line)
			}
		}
		if len(changed) == 0 {
			changed = [][]byte{[]byte("{}")} // a frame is never empty
		}
		return changed
	}
}
