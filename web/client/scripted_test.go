package client_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/web/client"
	"hongbao/web/wire"
)

// scriptedServer is a server whose answers the test chooses. The real server gives some of these answers only when its
// stores are slow or its database comes from a backup.
type scriptedServer struct {
	*httptest.Server

	t      *testing.T
	answer func(method string, data json.RawMessage) any // a reply, a wire.Error, or nil for no answer

	mu       sync.Mutex
	conn     *websocket.Conn // the newest socket
	connect  wire.ConnectData
	epoch    string
	unlisted []wire.MyRoom // rooms of the user that the connect reply leaves out
	asked    []string      // data of the connect commands so far
	requests []string      // methods called so far
}

func newScriptedServer(t *testing.T, connect wire.ConnectData, answer func(method string, data json.RawMessage) any) *scriptedServer {
	s := &scriptedServer{t: t, answer: answer, connect: connect, epoch: "e"}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *scriptedServer) client() *client.Client {
	return open(s.t, strings.TrimPrefix(s.URL, "http://"), "ann")
}

// serve handles the commands of one socket, in order.
func (s *scriptedServer) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		var c struct {
			ID      uint32
			Connect *struct {
				Data json.RawMessage
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
			s.asked = append(s.asked, string(c.Connect.Data))
			for _, r := range slices.Concat(data.Rooms, s.unlisted) {
				_, was := c.Connect.Subs[wire.RoomChannel(r.ID)]
				subs[wire.RoomChannel(r.ID)] = map[string]any{"recoverable": true, "positioned": true, "epoch": s.epoch, "offset": r.LastSeq, "was_recovering": was}
			}
			s.mu.Unlock()
			s.send(map[string]any{"id": c.ID, "connect": map[string]any{"client": "c", "data": data, "subs": subs}})
		case c.RPC != nil:
			s.mu.Lock()
			s.requests = append(s.requests, c.RPC.Method)
			s.mu.Unlock()
			switch reply := s.answer(c.RPC.Method, c.RPC.Data).(type) {
			case nil:
			case wire.Error:
				s.send(map[string]any{"id": c.ID, "error": reply})
			default:
				s.send(map[string]any{"id": c.ID, "rpc": map[string]any{"data": reply}})
			}
		}
	}
}

// setConnect sets the reply to the next connect command.
func (s *scriptedServer) setConnect(connect wire.ConnectData, epoch string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connect, s.epoch = connect, epoch
}

// send sends one message on the newest socket.
func (s *scriptedServer) send(message any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conn.WriteJSON(message); err != nil {
		s.t.Error(err)
	}
}

// push pushes a message that has no seq.
func (s *scriptedServer) push(data any) {
	s.send(map[string]any{"push": map[string]any{"message": map[string]any{"data": data}}})
}

// entry pushes an entry.
func (s *scriptedServer) entry(room string, seq int64, kind string, body any) {
	raw, _ := json.Marshal(body)
	s.send(map[string]any{"push": map[string]any{"channel": wire.RoomChannel(room), "pub": map[string]any{
		"offset": seq, "data": wire.Entry{Seq: seq, ID: "id", Kind: kind, Body: raw},
	}}})
}

// closeSocket closes the newest socket.
func (s *scriptedServer) closeSocket(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, "bye"), time.Now().Add(time.Second))
	_ = s.conn.Close()
}

// count returns how often a method was called.
func (s *scriptedServer) count(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.requests {
		if m == method {
			n++
		}
	}
	return n
}

// inRoom returns the connect data of a user that is in one room.
func inRoom(lastSeq int64) wire.ConnectData {
	return wire.ConnectData{User: wire.User{ID: "ann"}, NextCommitment: "c1", Rooms: []wire.MyRoom{{Room: wire.Room{ID: "r", Name: "room", LastSeq: lastSeq}}}}
}
