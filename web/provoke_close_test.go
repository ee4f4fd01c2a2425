package web

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// closes holds, for each close code, a function that causes the server to close a real socket with it.
var closes = map[int]func(t *testing.T, e wire.Encoding){
	wire.CloseDrain: func(t *testing.T, e wire.Encoding) {
		s := newTestServer(t)
		c, _ := connected(t, s.listen(t), e, "ann")
		if err := s.Drain(t.Context(), time.Millisecond); err != nil {
			t.Error(err)
		}
		c.mustClose(wire.CloseDrain)
	},
	wire.CloseServerError: func(t *testing.T, e wire.Encoding) {
		s := newErrorFixture(t, e)
		c, _ := connected(t, s.listen(t), e, "ann")
		s.faults.set(errBug)
		c.send(`{"id":2,"rpc":{"method":"find_rooms"}}`)
		c.mustClose(wire.CloseServerError)
		s.faults.set(nil)
	},
	wire.CloseTokenExpired: func(t *testing.T, e wire.Encoding) {
		s := newTestServer(t, func(o *Options) { o.RefreshGrace = time.Millisecond })
		c := dial(t, s.listen(t), e)
		c.connect(mint(t, auth.Claims{User: "ann"}, 8*time.Second), "{}")
		c.mustClose(wire.CloseTokenExpired)
	},
	wire.CloseTooSlow: func(t *testing.T, e wire.Encoding) {
		engines := newTestEngines(t)
		engines.hub.QueueBytes = 64 << 10
		s := engines.open(t)
		bob, ann := s.signIn(t, "bob", 0), s.signIn(t, "ann", 0)
		room := s.room(t, bob, "hall").ID
		call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room})
		c := dial(t, s.listenNarrow(t), e)
		c.connect(goodToken(t, "ann"), "{}")
		for text := long(4000); s.hub.Stats().Slow == 0; {
			s.say(t, bob, room, text)
		}
		c.mustClose(wire.CloseTooSlow)
	},
	wire.CloseNoPong: func(t *testing.T, e wire.Encoding) {
		engines := newTestEngines(t)
		engines.hub.PingEvery, engines.hub.PongWithin = time.Second, time.Second
		c, _ := connected(t, engines.open(t).listen(t), e, "ann")
		_ = c.ws.SetReadDeadline(time.Now().Add(patience))
		for { // mustClose would send replies to pings
			if _, _, err := c.ws.ReadMessage(); err != nil {
				mustBeClose(t, err, wire.CloseNoPong)
				return
			}
		}
	},
	wire.CloseTooManyCommands: func(t *testing.T, e wire.Encoding) {
		c, _ := connected(t, newTestServer(t, withRates, withoutRefill).listen(t), e, "ann")
		var frame []string
		for range wire.CommandsPerFrame {
			frame = append(frame, `{"send":{"data":{"typing":{"room":"none"}}}}`)
		}
		for range 10 { // 100 commands are allowed, the first of them the connect; one of the last frame is the 200th refused
			c.send(frame...)
		}
		c.mustClose(wire.CloseTooManyCommands)
	},
	wire.CloseStateInvalidated: func(t *testing.T, e wire.Encoding) {
		s := newTestServer(t)
		c, _ := connected(t, s.listen(t), e, "ann")
		s.hub.Reset(func() {})
		c.mustClose(wire.CloseStateInvalidated)
	},
	wire.CloseInvalidToken: func(t *testing.T, e wire.Encoding) {
		c := dial(t, newTestServer(t).listen(t), e)
		c.send(`{"id":1,"connect":{"token":"nonsense"}}`)
		c.mustClose(wire.CloseInvalidToken)
	},
	wire.CloseProtocolError: func(t *testing.T, e wire.Encoding) {
		c, _ := connected(t, newTestServer(t).listen(t), e, "ann")
		c.send(`{"rpc":{"method":"wallet"}}`)
		c.mustClose(wire.CloseProtocolError)
	},
	wire.CloseNoConnect: func(t *testing.T, e wire.Encoding) {
		s := newTestServer(t, func(o *Options) { o.ConnectWithin = time.Second })
		dial(t, s.listen(t), e).mustClose(wire.CloseNoConnect)
	},
	wire.CloseRevoked: func(t *testing.T, e wire.Encoding) {
		s := newTestServer(t)
		c, _ := connected(t, s.listen(t), e, "ann")
		mustAnswer[wire.DisconnectReply](t, ask(t, s.Handler(), "POST", "/v1/admin/disconnect", adminToken(t), `{"user":"ann"}`), 200)
		c.mustClose(wire.CloseRevoked)
	},
	wire.CloseSuspended: func(t *testing.T, e wire.Encoding) {
		s := newTestServer(t)
		c, _ := connected(t, s.listen(t), e, "ann")
		suspend(t, s, "ann")
		c.mustClose(wire.CloseSuspended)
	},
	wire.ClosePushedOut: func(t *testing.T, e wire.Encoding) {
		s := newTestServer(t, func(o *Options) { o.SocketsPerUser = 1 })
		addr := s.listen(t)
		c, _ := connected(t, addr, e, "ann")
		connected(t, addr, e, "ann")
		c.mustClose(wire.ClosePushedOut)
	},
}

func TestEveryClose(t *testing.T) {
	t.Parallel()
	for _, c := range wire.Closes() {
		provoke := closes[c.Code]
		if provoke == nil {
			t.Errorf("no test provokes the close %d %s", c.Code, c.Reason)
			continue
		}
		t.Run(strings.ReplaceAll(c.Reason, " ", "-"), func(t *testing.T) {
			t.Parallel() // some wait for a timeout
			bothEncodings(t, provoke)
		})
	}
}

// mustBeClose checks that err is a close frame with the code and its reason from the protocol.
func mustBeClose(t *testing.T, err error, code int) {
	t.Helper()
	var closed *websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != code || closed.Text != wire.CloseFor(code).Reason {
		t.Fatalf("closed with %v, want %d %s", err, code, wire.CloseFor(code).Reason)
	}
}

// listenNarrow is listen with small socket buffers, so that they are full soon.
func (s *testServer) listenNarrow(t *testing.T) (addr string) {
	t.Helper()
	server := httptest.NewUnstartedServer(s.Handler())
	server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if err := conn.(*net.TCPConn).SetWriteBuffer(8 << 10); err != nil {
			t.Error(err)
		}
		return ctx
	}
	server.Start()
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}
