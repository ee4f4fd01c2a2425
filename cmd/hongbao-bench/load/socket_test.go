package load

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// TestSocketEchoesWithServer checks that texts of all lengths are echoed, and that a ping is answered.
func TestSocketEchoesWithServer(t *testing.T) {
	sizes := []int{1, 125, 126, 2048, 1<<16 - 1, 1 << 16, 300_000}
	ponged := make(chan string, len(sizes))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		ws.SetPongHandler(func(sent string) error {
			ponged <- sent
			return nil
		})
		for {
			kind, text, err := ws.ReadMessage()
			if err != nil || ws.WriteControl(websocket.PingMessage, []byte("there?"), time.Now().Add(time.Minute)) != nil || ws.WriteMessage(kind, text) != nil {
				return
			}
		}
	}))
	defer server.Close()
	s, err := dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, size := range sizes {
		sent, received := strings.Repeat("x", size), ""
		if err := s.send(func(b []byte) []byte { return append(b, sent...) }); err != nil {
			t.Fatal(err)
		}
		for received == "" && err == nil {
			err = s.receive(func(text []byte, _ time.Time) error {
				received += string(text)
				return nil
			})
		}
		if err != nil || received != sent {
			t.Fatalf("of %d bytes %d are echoed: %v", size, len(received), err)
		}
	}
	select {
	case sent := <-ponged:
		if sent != "there?" {
			t.Errorf("a ping is answered by %q", sent)
		}
	case <-time.After(10 * time.Second):
		t.Error("a ping is not answered")
	}
}

// TestSocketReads checks frames in pieces and many frames at once, with one or more messages in each.
func TestSocketReads(t *testing.T) {
	incoming := []byte("\x81\x07{}\n{\"a\"\x81\x01x\x8a\x00\x81\x7e\x00\x03y\nz")
	want := []string{"{}", `{"a"`, "x", "y", "z"}
	for piece := 1; piece <= len(incoming); piece++ {
		got, err := received(t, incoming, piece)
		if !slices.Equal(got, want) || err == nil || !strings.Contains(err.Error(), "EOF") {
			t.Errorf("%d bytes at a time: %q, %v", piece, got, err)
		}
	}
	for name, wrong := range map[string]string{
		"a part of a message": "\x01\x01x", "a masked one": "\x81\x81\x00\x00\x00\x00x", "an extension": "\xc1\x01x", "binary": "\x82\x01x", "a close": "\x88\x02\x03\xe8",
		"far too long": "\x81\x7f\x00\x00\x01\x00\x00\x00\x00\x00",
	} {
		if got, err := received(t, []byte(wrong), len(wrong)); len(got) > 0 || err == nil || strings.Contains(err.Error(), "EOF") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// received returns the messages that a socket reads from bytes that arrive in pieces.
func received(t *testing.T, incoming []byte, piece int) (got []string, err error) {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		defer theirs.Close()
		for part := range slices.Chunk(incoming, piece) {
			if _, err := theirs.Write(part); err != nil {
				return
			}
		}
	}()
	s := &socket{conn: ours, buffer: make([]byte, 1)}
	for err == nil {
		err = s.receive(func(text []byte, _ time.Time) error {
			got = append(got, string(text))
			return nil
		})
	}
	return got, err
}
