package web

import (
	"fmt"
	"testing"

	"github.com/gorilla/websocket"

	"hongbao/web/wire"
)

// socketTrail is a Trail that passes on what happens to sockets.
type socketTrail struct {
	Trail

	told chan string
}

func (s socketTrail) SocketOpened(user, socket string) { s.told <- "opened " + user + " " + socket }

func (s socketTrail) SocketEnded(user, socket string, code int, byPeer bool) {
	s.told <- fmt.Sprintf("ended %s %s %d %t", user, socket, code, byPeer)
}

// TestTrailIsToldOfSockets ends sockets in each way. The trail must be told of each once, with what ended it.
func TestTrailIsToldOfSockets(t *testing.T) {
	t.Parallel()
	trail := socketTrail{told: make(chan string, 100)}
	s := newTestServer(t, func(o *Options) { o.Trail = trail })
	addr := s.listen(t)
	for _, test := range []struct {
		user, ends string
		end        func(c *rawClient)
	}{
		{"ann", "0 true", func(c *rawClient) {
			noError(t, c.ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")))
		}},
		{"bob", "0 false", func(c *rawClient) { noError(t, c.ws.NetConn().Close()) }},
		{"cyn", fmt.Sprint(wire.CloseRevoked, " false"), func(c *rawClient) { revoke(t, s, "cyn"); c.mustClose(wire.CloseRevoked) }},
	} {
		c, r := connected(t, addr, wire.JSON, test.user)
		if got, want := <-trail.told, "opened "+test.user+" "+r.Client; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		test.end(c)
		if got, want := <-trail.told, "ended "+test.user+" "+r.Client+" "+test.ends; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	refused := dial(t, addr, wire.JSON)
	refused.send(`{"id":1,"connect":{"token":"no token"}}`)
	refused.mustClose(wire.CloseInvalidToken)
	s.eventually(t, "all sockets have ended", func() bool { return s.hub.Stats().Connections == 0 })
	if len(trail.told) > 0 {
		t.Errorf("told %q of a socket without a user", <-trail.told)
	}
}
