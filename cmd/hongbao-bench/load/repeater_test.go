package load

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// TestRepeaters checks that each repeater grabs at least once, however short the time is, and that an unexpected answer is
// found.
func TestRepeaters(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		for kind, text, err := ws.ReadMessage(); err == nil && ws.WriteMessage(kind, text) == nil; {
			kind, text, err = ws.ReadMessage()
		}
	}))
	defer server.Close()
	like := make([]*Repeater, 5)
	for i := range like {
		like[i] = &Repeater{want: "empty", answer: []byte(`{"id":7,"rpc":{"data":{"packet":"p","outcome":"empty","claimed":2,"count":2}}}`)}
	}
	all, err := EchoRepeaters(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), like)
	for _, a := range all {
		defer a.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, _, err := Repeat(t.Context(), all, 0); n != len(all) || err != nil {
		t.Errorf("%d of %d repeaters have grabbed: %v", n, len(all), err)
	}
	if n, took, err := Repeat(t.Context(), all, 20*time.Millisecond); n < len(all) || took < 20*time.Millisecond || err != nil {
		t.Errorf("%d answers in %v: %v", n, took, err)
	}
	all[3].request = framed([]byte(strings.Replace(string(like[3].answer), "empty", "won", 1)))
	if _, _, err := Repeat(t.Context(), all, time.Second); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("an unexpected answer: %v", err)
	}
}
