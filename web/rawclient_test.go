package web

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/centrifugal/protocol"
	"github.com/gorilla/websocket"

	"hongbao/hub/hubtest"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// patience is the longest time that a test waits for an expected message.
const patience = time.Minute

// bothEncodings runs a test once for each encoding. In a bubble, which can have no subtests, both run as one test.
func bothEncodings(t *testing.T, test func(t *testing.T, e wire.Encoding)) {
	if bubbled() {
		test(t, wire.JSON)
		test(t, wire.Protobuf)
		return
	}
	t.Run("json", func(t *testing.T) { test(t, wire.JSON) })
	t.Run("protobuf", func(t *testing.T) { test(t, wire.Protobuf) })
}

// listen serves clients and returns the address as host:port: over TCP, in a bubble over pipes in memory.
func (s *testServer) listen(t *testing.T) string {
	t.Helper()
	if bubbled() {
		return hubtest.ServeOnPipe(t, s.Handler())
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// goodToken returns a valid token, signed by the host.
func goodToken(t *testing.T, user string) string {
	t.Helper()
	return mint(t, auth.Claims{User: user, Name: "Name of " + user}, time.Hour)
}

func mint(t *testing.T, c auth.Claims, ttl time.Duration) string {
	t.Helper()
	token, err := auth.Sign(testSecret, c, ttl)
	noError(t, err)
	return token
}

// rawClient is a WebSocket client that only sends and receives. Tests write its commands as JSON, in both encodings.
type rawClient struct {
	t       *testing.T
	ws      *websocket.Conn
	e       wire.Encoding
	replies []*protocol.Reply // read from the socket, but not returned yet

	sees bool              // next returns pushes of presence, too
	keep bool              // messages that reply skips are added to kept
	kept []*protocol.Reply // the messages that reply has skipped
}

func dial(t *testing.T, addr string, e wire.Encoding) *rawClient {
	t.Helper()
	ws, _, err := tryDial(addr, e, nil)
	noError(t, err)
	c := &rawClient{t: t, ws: ws, e: e}
	t.Cleanup(func() { _ = ws.Close() })
	return c
}

func tryDial(addr string, e wire.Encoding, header http.Header) (*websocket.Conn, *http.Response, error) {
	dialer := websocket.Dialer{HandshakeTimeout: patience, NetDialContext: hubtest.DialPipe}
	if e == wire.Protobuf {
		dialer.Subprotocols = []string{"centrifuge-protobuf"}
	}
	return dialer.Dial("ws://"+addr+"/v1/socket", header)
}

// connected returns a client that has connected, and its connect reply.
func connected(t *testing.T, addr string, e wire.Encoding, user string) (*rawClient, *protocol.ConnectResult) {
	t.Helper()
	c := dial(t, addr, e)
	return c, c.connect(goodToken(t, user), "{}")
}

func (c *rawClient) connect(token, subs string) *protocol.ConnectResult {
	c.t.Helper()
	c.send(`{"id":1,"connect":{"token":"` + token + `","subs":` + subs + `}}`)
	r := c.next()
	if r.Id != 1 || r.Connect == nil {
		c.t.Fatalf("connect: got %v", r)
	}
	return r.Connect
}

// send sends all the commands in one frame.
func (c *rawClient) send(commands ...string) {
	c.t.Helper()
	kind, frame := websocket.TextMessage, []byte(strings.Join(commands, "\n"))
	if c.e == wire.Protobuf {
		kind, frame = websocket.BinaryMessage, nil
		for _, text := range commands {
			var cmd protocol.Command
			if err := json.Unmarshal([]byte(text), &cmd); err != nil {
				c.t.Fatalf("%s: %v", text, err)
			}
			message, err := cmd.MarshalVT()
			if err != nil {
				c.t.Fatal(err)
			}
			frame = append(binary.AppendUvarint(frame, uint64(len(message))), message...)
		}
	}
	c.write(kind, frame)
}

func (c *rawClient) write(kind int, frame []byte) {
	c.t.Helper()
	if err := c.ws.WriteMessage(kind, frame); err != nil {
		c.t.Fatal(err)
	}
}

// read returns the next message, or the error that ended the connection.
func (c *rawClient) read() (*protocol.Reply, error) {
	for len(c.replies) == 0 {
		_ = c.ws.SetReadDeadline(time.Now().Add(patience))
		_, frame, err := c.ws.ReadMessage()
		if err != nil {
			return nil, err
		}
		if c.replies, err = decodeReplies(c.e, frame); err != nil {
			return nil, err
		}
	}
	r := c.replies[0]
	c.replies = c.replies[1:]
	return r, nil
}

func decodeReplies(e wire.Encoding, frame []byte) (replies []*protocol.Reply, err error) {
	var decoder protocol.ReplyDecoder = protocol.NewJSONReplyDecoder(frame)
	if e == wire.Protobuf {
		decoder = protocol.NewProtobufReplyDecoder(frame)
	}
	for {
		r, err := decoder.Decode()
		if err == io.EOF {
			return replies, nil
		}
		if err != nil {
			return nil, err
		}
		replies = append(replies, r)
	}
}

// next returns the next reply or push. It answers pings and skips them. It also skips pushes of presence, which may
// come at any time, unless sees is set.
func (c *rawClient) next() *protocol.Reply {
	c.t.Helper()
	for {
		r, err := c.read()
		switch {
		case err != nil:
			c.t.Fatalf("waiting for a message: %v", err)
		case r.Id == 0 && r.Push == nil:
			c.send(`{}`)
		case !c.sees && r.Push != nil && r.Push.Message != nil && messageOf(c.t, r.Push).Presence != nil:
		default:
			return r
		}
	}
}

// reply returns the reply to the command with this id. It skips all messages before it.
func (c *rawClient) reply(id uint32) *protocol.Reply {
	c.t.Helper()
	for {
		r := c.next()
		if r.Id == id {
			return r
		}
		if c.keep {
			c.kept = append(c.kept, r)
		}
	}
}

// push returns the next push that satisfies wanted. It skips all messages before it.
func (c *rawClient) push(wanted func(*protocol.Push) bool) *protocol.Push {
	c.t.Helper()
	for {
		if r := c.next(); r.Push != nil && wanted(r.Push) {
			return r.Push
		}
	}
}

// rpc calls a method and returns the data of its reply. It fails the test on an error.
func rpc[Reply any](c *rawClient, id uint32, method string, request any) (reply Reply) {
	c.t.Helper()
	data := string(encoded(c.t, request))
	c.send(`{"id":` + strconv.Itoa(int(id)) + `,"rpc":{"method":"` + method + `","data":` + data + `}}`)
	r := c.reply(id)
	if r.Error != nil {
		c.t.Fatalf("%s: %v", method, r.Error)
	}
	if err := json.Unmarshal(r.Rpc.Data, &reply); err != nil {
		c.t.Fatal(err)
	}
	return reply
}

// mustClose reads until the server's close frame, which must have the code.
func (c *rawClient) mustClose(code int) {
	c.t.Helper()
	for {
		r, err := c.read()
		var closed *websocket.CloseError
		switch {
		case err == nil:
			if r.Id == 0 && r.Push == nil {
				c.send(`{}`)
			}
			continue
		case !errors.As(err, &closed):
			c.t.Fatalf("waiting for close %d: %v", code, err)
		case closed.Code != code:
			c.t.Fatalf("closed with %d %q, want %d", closed.Code, closed.Text, code)
		}
		return
	}
}

// mustFail checks that the reply is an error with this code.
func mustFail(t *testing.T, r *protocol.Reply, code wire.Code) {
	t.Helper()
	if r.Error == nil || r.Error.Code != uint32(code) {
		t.Fatalf("got %v, want error %d", r, code)
	}
	if r.Error.Temporary != code.Temporary() || !strings.HasPrefix(r.Error.Message, code.Word()) {
		t.Errorf("error %v, want word %s and temporary %v", r.Error, code.Word(), code.Temporary())
	}
}

// room creates a public room with the given owner.
func (s *testServer) room(t *testing.T, owner api.Caller, name string) wire.Room {
	t.Helper()
	request := wire.CreateRoomRequest{Key: "room-" + strings.ReplaceAll(name, " ", "-"), Name: name, Kind: "public"}
	return call[wire.CreateRoomReply](t, s, owner, "create_room", request).Room
}

var saidKeys atomic.Int64 // how many keys say has used

// say sends a text to a room and returns the reply.
func (s *testServer) say(t *testing.T, c api.Caller, room, text string) wire.SendReply {
	t.Helper()
	key := "said-" + strconv.FormatInt(saidKeys.Add(1), 36)
	return call[wire.SendReply](t, s, c, "send", wire.SendRequest{Room: room, Key: key, Text: text})
}

// holdCommits blocks all commits to the database until release is called.
func (s *testServer) holdCommits(t *testing.T) (release func()) {
	t.Helper()
	var path string
	noError(t, s.db.QueryRow(`select file from pragma_database_list where name = 'main'`).Scan(&path))
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	noError(t, err)
	conn, err := db.Conn(context.Background())
	noError(t, err)
	if _, err := conn.ExecContext(context.Background(), "begin immediate"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(context.Background(), "rollback"); err != nil {
			t.Error(err)
		}
		_ = conn.Close()
		_ = db.Close()
	}
}
