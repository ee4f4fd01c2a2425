package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// stormClient is a client that reconnects. Its bytes are made before the clock runs, and the reply is parsed afterwards: a whole
// SDK would cost more than the server.
type stormClient struct {
	user    int
	host    string
	hello   []byte // the handshake
	connect []byte // the connect command in a frame
	reply   []byte // the answer to it
}

// sdkTimeout is how long SDKs wait for an answer.
const sdkTimeout = 5 * time.Second

func (s *storm) newClient(user int, recovers bool) *stormClient {
	s.t.Helper()
	token, err := auth.Sign([]byte(secret), auth.Claims{User: fmt.Sprint("u-", user)}, time.Hour)
	e2e.NoError(s.t, err)
	subs := ""
	if recovers {
		subs = fmt.Sprintf(`,"subs":{%q:{"recover":true,"epoch":%q,"offset":%d}}`, wire.RoomChannel(s.roomOf(user)), s.epoch, s.last)
	}
	return &stormClient{
		user: user, host: s.server.URL.Host, hello: []byte(e2e.Handshake()),
		connect: e2e.MaskedFrame(0x81, fmt.Sprintf(`{"id":1,"connect":{"token":%q%s}}`, token, subs)),
	}
}

// dial opens a socket and connects. If it succeeds, the socket stays open until the test ends.
func (s *storm) dial(c *stormClient) (err error) {
	conn, err := net.Dial("tcp", c.host)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	_ = conn.SetDeadline(time.Now().Add(sdkTimeout))
	if err := c.greet(&e2e.RawSocket{Conn: conn, In: bufio.NewReader(conn)}); err != nil {
		return err
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return nil
}

// greet sends the handshake and the connect command, and reads the replies.
func (c *stormClient) greet(raw *e2e.RawSocket) (err error) {
	raw.Send(c.hello)
	for line := []byte(nil); len(line) != 2; { // an empty line ends the header
		if line, err = raw.In.ReadSlice('\n'); err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && !bytes.HasPrefix(line, []byte("HTTP/1.1 101 ")) {
			return fmt.Errorf("handshake: %s", line)
		}
	}
	raw.Send(c.connect)
	_, reply, err := raw.ReadFrame()
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(reply, []byte(`{"id":1,"connect":{`)) {
		return fmt.Errorf("connect: %.200q", reply)
	}
	c.reply = reply
	return nil
}

// subscription is what a connect reply says of a room.
type subscription struct {
	Recovered    bool
	Epoch        string
	Offset       int64
	Publications []struct {
		Offset int64
		Data   json.RawMessage
	}
}

// subscriptionOf parses the client's connect reply.
func (s *storm) subscriptionOf(c *stormClient) subscription {
	s.t.Helper()
	line, _, _ := bytes.Cut(c.reply, []byte("\n"))
	var reply struct {
		Connect struct{ Subs map[string]subscription }
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		s.t.Fatalf("connect reply %s: %v", line, err)
	}
	return reply.Connect.Subs[wire.RoomChannel(s.roomOf(c.user))]
}
