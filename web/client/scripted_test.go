package client_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/web/client"
	"hongbao/web/wire"
)

// scripted is a server that says what a test wants: what the real one says only when its engines are slow,
// or when its database comes from a backup.
type scripted struct {
	*httptest.Server

	t      *testing.T
	answer func(method string, data json.RawMessage) any // a reply, a wire.Error, or nil: none

	mu      sync.Mutex
	conn    *websocket.Conn // the newest
	connect wire.ConnectData
	epoch   string
	asked   []string // methods
}

func script(t *testing.T, connect wire.ConnectData, answer func(method string, data json.RawMessage) any) *scripted {
	s := &scripted{t: t, answer: answer, connect: connect, epoch: "e"}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *scripted) client() *client.Client {
	return open(s.t, strings.TrimPrefix(s.URL, "http://"), "ann")
}

// serve carries one socket, in order.
func (s *scripted) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		var c struct {
			ID      uint32
			Connect *struct {
				Subs map[string]any
			}
			RPC *struct {
				Method string
				Data   json.RawMessage
			}
		}
		if conn.ReadJSON(&c) != nil {
			return
		}
		switch {
		case c.Connect != nil:
			s.mu.Lock()
			s.conn = conn
			subs, data := map[string]any{}, s.connect
			for _, r := range data.Rooms {
				_, was := c.Connect.Subs[wire.RoomChannel(r.ID)]
				subs[wire.RoomChannel(r.ID)] = map[string]any{"recoverable": true, "positioned": true, "epoch": s.epoch, "offset": r.LastSeq, "was_recovering": was}
			}
			s.mu.Unlock()
			s.say(map[string]any{"id": c.ID, "connect": map[string]any{"client": "c", "data": data, "subs": subs}})
		case c.RPC != nil:
			s.mu.Lock()
			s.asked = append(s.asked, c.RPC.Method)
			s.mu.Unlock()
			switch reply := s.answer(c.RPC.Method, c.RPC.Data).(type) {
			case nil:
			case wire.Error:
				s.say(map[string]any{"id": c.ID, "error": reply})
			default:
				s.say(map[string]any{"id": c.ID, "rpc": map[string]any{"data": reply}})
			}
		}
	}
}

// becomes is what it is after the next connect.
func (s *scripted) becomes(connect wire.ConnectData, epoch string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connect, s.epoch = connect, epoch
}

// say sends one message on the newest socket.
func (s *scripted) say(message any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conn.WriteJSON(message); err != nil {
		s.t.Error(err)
	}
}

// push sends a message outside any sequence.
func (s *scripted) push(data any) {
	s.say(map[string]any{"push": map[string]any{"message": map[string]any{"data": data}}})
}

// enter sends an entry.
func (s *scripted) enter(room string, seq int64, kind string, body any) {
	raw, _ := json.Marshal(body)
	s.say(map[string]any{"push": map[string]any{"channel": wire.RoomChannel(room), "pub": map[string]any{
		"offset": seq, "data": wire.Entry{Seq: seq, ID: "id", Kind: kind, Body: raw},
	}}})
}

// hangUp ends the newest socket.
func (s *scripted) hangUp(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, "bye"), time.Now().Add(time.Second))
	_ = s.conn.Close()
}

// count is how often a method was asked for.
func (s *scripted) count(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.asked {
		if m == method {
			n++
		}
	}
	return n
}

// inRoom is somebody in one room.
func inRoom(lastSeq int64) wire.ConnectData {
	return wire.ConnectData{User: wire.User{ID: "ann"}, NextCommitment: "c1", Rooms: []wire.MyRoom{{Room: wire.Room{ID: "r", Name: "room", LastSeq: lastSeq}}}}
}
