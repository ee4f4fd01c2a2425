package attacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/wire"
)

// budgetSocket is a socket on which the test writes frames of its choice.
type budgetSocket struct {
	*websocket.Conn
	t *testing.T
}

func dialBudget(t *testing.T, s *e2e.Server) budgetSocket {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial(s.SocketURL(false), nil)
	e2e.NoError(t, err)
	t.Cleanup(func() { _ = ws.Close() })
	e2e.NoError(t, ws.SetReadDeadline(time.Now().Add(time.Minute)))
	return budgetSocket{ws, t}
}

// connect sends the connect command and reads its reply.
func (s budgetSocket) connect(token string) {
	s.t.Helper()
	e2e.NoError(s.t, s.WriteMessage(websocket.TextMessage, []byte(`{"id":1,"connect":{"token":"`+token+`"}}`)))
	_, reply, err := s.ReadMessage()
	if err != nil || !strings.Contains(string(reply), `"connect"`) {
		s.t.Fatalf("connect: %.200s, %v", reply, err)
	}
}

// TestBudgetsReconnectingFillsNothing reads history on one connection after the other. All of them together must get what the user's
// budget allows: 100 reads at once and 20 a second.
func TestBudgetsReconnectingFillsNothing(t *testing.T) {
	enginetest.Nightly(t, "whole")
	s := start(t, "HONGBAO_LIMITS=on")
	guest := s.Guest("reader")
	status, reply, err := s.Post(guest.Token, "commands/create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"})
	var created wire.CreateRoomReply
	if err = errors.Join(err, json.Unmarshal(reply, &created)); err != nil || status != 200 {
		t.Fatal(status, err)
	}
	const connections, frames, each = 10, 3, 30
	began, read := time.Now(), 0
	for range connections {
		ws := dialBudget(t, s)
		ws.connect(guest.Token)
		id := 1
		for range frames {
			var lines []string
			for range each {
				id++
				lines = append(lines, fmt.Sprintf(`{"id":%d,"rpc":{"method":"history","data":{"room":%q}}}`, id, created.Room.ID))
			}
			e2e.NoError(t, ws.WriteMessage(websocket.TextMessage, []byte(strings.Join(lines, "\n"))))
		}
		for answers := 0; answers < frames*each; {
			_, data, err := ws.ReadMessage()
			e2e.NoError(t, err)
			for line := range strings.Lines(string(data)) {
				if strings.HasPrefix(line, `{"id":`) {
					answers++
				}
				if strings.Contains(line, `"rpc":`) {
					read++
				}
			}
		}
		_ = ws.Close()
	}
	if most := 101 + int(20*time.Since(began).Seconds()); read > most || read < 50 {
		t.Errorf("%d reads of history in %v, want at most %d and at least 50", read, time.Since(began), most)
	}
}

// TestBudgetsFreeFramesCloseTheSocket sends frames that need no answer of a command, before and after the connect command. The server
// must close the socket.
func TestBudgetsFreeFramesCloseTheSocket(t *testing.T) {
	s := start(t, "HONGBAO_LIMITS=on")
	guest := s.Guest("flooder")
	for _, authenticated := range []bool{false, true} {
		for name, send := range map[string]func(*websocket.Conn) error{
			"ping":  func(ws *websocket.Conn) error { return ws.WriteMessage(websocket.PingMessage, nil) },
			"pong":  func(ws *websocket.Conn) error { return ws.WriteMessage(websocket.PongMessage, nil) },
			"empty": func(ws *websocket.Conn) error { return ws.WriteMessage(websocket.TextMessage, []byte("{}")) },
		} {
			ws := dialBudget(t, s)
			if authenticated {
				ws.connect(guest.Token)
			}
			for range 2000 {
				if send(ws.Conn) != nil {
					break // the server has closed the connection
				}
			}
			var err error
			for err == nil {
				_, _, err = ws.ReadMessage()
			}
			if !websocket.IsCloseError(err, wire.CloseTooManyCommands) {
				t.Errorf("2000 %s frames, authenticated %t: the socket ended with %v, want close code %d", name, authenticated, err, wire.CloseTooManyCommands)
			}
		}
	}
	ws := dialBudget(t, s)
	ws.connect(guest.Token) // another connection still works
}
