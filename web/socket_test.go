package web

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

func TestUpgrade(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.AllowedOrigins = []string{"https://app.example.com"} })
	addr := s.listen(t)
	expired := mint(t, auth.Claims{User: "ann"}, -time.Minute)
	for _, c := range []struct {
		name      string
		protocols []string
		header    http.Header
		query     string
		status    int
		protocol  string
		e         wire.Encoding
	}{
		{name: "plain", status: 101},
		{name: "json", protocols: []string{"centrifuge-json"}, status: 101, protocol: "centrifuge-json"},
		{name: "protobuf", protocols: []string{"centrifuge-protobuf"}, status: 101, protocol: "centrifuge-protobuf", e: wire.Protobuf},
		{name: "both", protocols: []string{"centrifuge-json", "centrifuge-protobuf"}, status: 101, protocol: "centrifuge-protobuf", e: wire.Protobuf},
		{name: "one known", protocols: []string{"mqtt", "centrifuge-protobuf"}, status: 101, protocol: "centrifuge-protobuf", e: wire.Protobuf},
		{name: "only unknown", protocols: []string{"mqtt"}, status: 400},
		{name: "by query", query: "?cf_protocol=protobuf", status: 101, e: wire.Protobuf},
		{name: "own origin", header: http.Header{"Origin": {"http://" + addr}}, status: 101},
		{name: "allowed origin", header: http.Header{"Origin": {"https://app.example.com"}}, status: 101},
		{name: "allowed host, other scheme", header: http.Header{"Origin": {"http://app.example.com"}}, status: 403},
		{name: "strange origin", header: http.Header{"Origin": {"https://evil.example.com"}}, status: 403},
		{name: "opaque origin", header: http.Header{"Origin": {"null"}}, status: 403},
		{name: "good bearer", header: http.Header{"Authorization": {"Bearer " + goodToken(t, "ann")}}, status: 101},
		{name: "bad bearer", header: http.Header{"Authorization": {"Bearer nonsense"}}, status: 401},
		{name: "expired bearer", header: http.Header{"Authorization": {"Bearer " + expired}}, status: 401},
		{name: "no bearer", header: http.Header{"Authorization": {"Basic YTpi"}}, status: 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			dialer := websocket.Dialer{Subprotocols: c.protocols}
			ws, response, err := dialer.Dial("ws://"+addr+"/v1/socket"+c.query, c.header)
			if response == nil {
				t.Fatal(err)
			}
			if response.StatusCode != c.status {
				t.Fatalf("status %d, want %d", response.StatusCode, c.status)
			}
			if c.status != http.StatusSwitchingProtocols {
				return
			}
			defer ws.Close()
			if ws.Subprotocol() != c.protocol {
				t.Errorf("subprotocol %q, want %q", ws.Subprotocol(), c.protocol)
			}
			(&rawClient{t: t, ws: ws, e: c.e}).connect(goodToken(t, "ann"), "{}")
		})
	}
}

// TestUpgradeOfOldHTTP sends the same upgrade request as HTTP/1.1 and as HTTP/1.0. The second must be refused.
func TestUpgradeOfOldHTTP(t *testing.T) {
	t.Parallel()
	addr := newTestServer(t).listen(t)
	for version, status := range map[string]int{"1.1": http.StatusSwitchingProtocols, "1.0": http.StatusBadRequest} {
		conn, err := net.Dial("tcp", addr)
		noError(t, err)
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(patience))
		fmt.Fprintf(conn, "GET /v1/socket HTTP/%s\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", version, addr)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		noError(t, err)
		if response.StatusCode != status {
			t.Errorf("HTTP/%s: %s, want %d", version, response.Status, status)
		}
	}
}

func TestBearerStandsForToken(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ws, _, err := tryDial(s.listen(t), wire.JSON, http.Header{"Authorization": {"bearer " + goodToken(t, "ann")}})
	noError(t, err)
	defer ws.Close()
	c := &rawClient{t: t, ws: ws}
	if got := dataOf(t, c.connect("", "{}")).User; got.ID != "ann" || got.Name != "Name of ann" {
		t.Errorf("connected as %+v", got)
	}
}

// TestBearerExpiresBeforeConnect upgrades with a token that expires before the connect command. The command must be refused,
// and one with a newer token accepted.
func TestBearerExpiresBeforeConnect(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	s := newTestServer(t, func(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) } })
	ws, _, err := tryDial(s.listen(t), wire.JSON, http.Header{"Authorization": {"Bearer " + goodToken(t, "ann")}})
	noError(t, err)
	defer ws.Close()
	c := &rawClient{t: t, ws: ws}
	ahead.Store(int64(2 * time.Hour))
	c.send(`{"id":1,"connect":{}}`)
	mustFail(t, c.next(), wire.CodeTokenExpired)
	c.connect(mint(t, auth.Claims{User: "ann"}, 4*time.Hour), "{}")
}

// TestSocketsPerUser opens an 11th socket of a user. The user's oldest must be closed. Sockets of other users, and
// closed ones, must not count.
func TestSocketsPerUser(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.SocketsPerUser = 3 })
	addr := s.listen(t)
	other, _ := connected(t, addr, wire.JSON, "bob")
	var mine []*rawClient
	for range 4 {
		c, _ := connected(t, addr, wire.JSON, "ann")
		mine = append(mine, c)
	}
	mine[0].mustClose(wire.ClosePushedOut)
	_ = mine[2].ws.Close() // neither the oldest nor the newest socket
	s.eventually(t, "three sockets", func() bool { return s.hub.Connections() == 3 })
	last, _ := connected(t, addr, wire.Protobuf, "ann")
	for _, c := range []*rawClient{other, mine[1], mine[3], last} {
		rpc[wire.WalletReply](c, 2, "wallet", wire.WalletRequest{})
	}
	newest, _ := connected(t, addr, wire.JSON, "ann")
	mine[1].mustClose(wire.ClosePushedOut)
	for _, c := range []*rawClient{other, mine[3], last, newest} {
		_ = c.ws.Close()
	}
	s.eventually(t, "nobody", func() bool { return s.hub.Connections() == 0 })
	if n := s.sessions.Users(); n > 0 {
		t.Errorf("%d users still have a session", n)
	}
}

// TestDrain drains a server. New sockets must be refused, commands in progress answered, and all sockets closed so that
// clients reconnect elsewhere.
func TestDrain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		addr := s.listen(t)
		idle, _ := connected(t, addr, wire.JSON, "ann")
		busy, _ := connected(t, addr, wire.Protobuf, "bob")
		release := s.holdCommits(t)
		busy.send(`{"id":2,"rpc":{"method":"create_room","data":{"key":"k","name":"n","kind":"public"}}}`)
		s.eventually(t, "a command in flight", func() bool { return s.inFlight("bob") == 1 })

		drained := make(chan error, 1)
		go func() { drained <- s.Drain(context.Background(), time.Millisecond) }()
		idle.mustClose(wire.CloseDrain)
		if _, response, _ := tryDial(addr, wire.JSON, nil); response == nil || response.StatusCode != 503 {
			t.Errorf("upgrade while draining: %v", response)
		}
		s.eventually(t, "the busy one alone", func() bool { return s.hub.Connections() == 1 })
		release()
		if r := busy.reply(2); r.Error != nil {
			t.Errorf("the command in flight was refused: %v", r.Error)
		}
		busy.mustClose(wire.CloseDrain)
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

// inFlight returns how many commands of the user's newest session are not answered.
func (s *testServer) inFlight(user string) int {
	if session := s.sessionOf(user); session != nil {
		return session.InFlight()
	}
	return 0
}

// eventually polls until a condition holds that no message reports: more seldom as time passes, because a minute of a bubble would be 60,000
// polls otherwise.
func (s *testServer) eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); {
		waited := time.Since(began)
		if waited > patience {
			t.Fatalf("%s did not come", what)
		}
		<-time.After(max(time.Millisecond, min(waited/20, 100*time.Millisecond)))
	}
}
