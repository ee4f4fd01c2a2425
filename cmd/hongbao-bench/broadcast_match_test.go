package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"hongbao/cmd/hongbao-bench/load"
)

// audienceOf connects three sockets to a peer. sent is called after each text.
func audienceOf(t *testing.T, to receivers, sent func()) *load.Audience {
	t.Helper()
	server := httptest.NewServer(fanout{to})
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	post := poster(client, server.URL, nil, []byte(load.Saying))
	a, err := load.NewAudience(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), 3, func(int) (load.Greeting, error) {
		return fanoutGreeting(), nil
	}, func(ctx context.Context) error {
		defer sent()
		return post(ctx)
	})
	t.Cleanup(func() { _ = a.Close() })
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestBroadcastCountsEachText sends texts through each peer of the broadcasts.
func TestBroadcastCountsEachText(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	loop := &frameLoop{more: make(chan struct{}, 1)}
	go loop.run(ctx)
	writers := &socketWriters{}
	defer func() {
		for _, queue := range writers.queues {
			close(queue)
		}
	}()
	for name, to := range map[string]receivers{"loop": loop, "gorilla": writers} {
		a := audienceOf(t, to, func() {})
		for _, inFlight := range []int{1, 4} {
			texts, err := a.Broadcast(ctx, inFlight, 0)
			if err != nil || texts < 1 || texts > inFlight {
				t.Errorf("%s, %d in flight: %d texts, %v", name, inFlight, texts, err)
			}
		}
		if string(a.Example()) != load.Saying || a.Reads() < 2*3 {
			t.Errorf("%s: %q in %d reads", name, a.Example(), a.Reads())
		}
	}
}

// TestBroadcastFindsWrongCounts sends a text that one socket never receives, or receives twice.
func TestBroadcastFindsWrongCounts(t *testing.T) {
	for line, want := range map[string]string{"another text": "received 0 of 1", load.Saying + "\n" + load.Saying: "received 2 of 1"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		sent := func() {}
		if want == "received 0 of 1" {
			sent = cancel // it would be waited for
		}
		a := audienceOf(t, &unevenSockets{first: line}, sent)
		if _, err := a.Broadcast(ctx, 1, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// unevenSockets sends the first socket another text than the others.
type unevenSockets struct {
	first string

	mu      sync.Mutex
	sockets []*websocket.Conn // guarded by mu
}

func (u *unevenSockets) add(ws *websocket.Conn) {
	_ = ws.WriteMessage(websocket.TextMessage, []byte(fanoutReady))
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sockets = append(u.sockets, ws)
}

func (u *unevenSockets) send(text []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, ws := range u.sockets {
		if i == 0 {
			text = []byte(u.first)
		}
		_ = ws.WriteMessage(websocket.TextMessage, text)
		text = []byte(load.Saying)
	}
}
