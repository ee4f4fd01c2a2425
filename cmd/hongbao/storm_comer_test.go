package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"time"

	"hongbao/web"
	"hongbao/web/wire"
)

// comer is one who comes back. His bytes are made by hand, before the clock runs, and what he is told is looked at
// afterwards: a whole client would cost more than the server.
type comer struct {
	person int
	host   string
	hello  []byte // the handshake
	ask    []byte // the connect command, in a frame
	reply  []byte // the answer to it
}

// comerPatience is how long SDKs wait for an answer.
const comerPatience = 5 * time.Second

func (s *storm) comer(person int, recovers bool) *comer {
	s.t.Helper()
	token, err := web.MintToken([]byte(idleSecret), web.Claims{User: fmt.Sprint("u-", person)}, time.Hour)
	if err != nil {
		s.t.Fatal(err)
	}
	subs := ""
	if recovers {
		subs = fmt.Sprintf(`,"subs":{%q:{"recover":true,"epoch":%q,"offset":%d}}`, wire.RoomChannel(s.room(person)), s.epoch, s.last)
	}
	return &comer{
		person: person, host: s.node.url.Host, hello: []byte(handshake()),
		ask: masked(0x81, fmt.Sprintf(`{"id":1,"connect":{"token":%q%s}}`, token, subs)),
	}
}

// come makes a socket that lasts until the end of the test, if it gets a good connect reply.
func (s *storm) come(c *comer) (err error) {
	conn, err := net.Dial("tcp", c.host)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	_ = conn.SetDeadline(time.Now().Add(comerPatience))
	raw := rawSocket{conn: conn, in: bufio.NewReader(conn)}
	raw.send(c.hello)
	for line := []byte(nil); len(line) != 2; { // the empty one ends the head
		if line, err = raw.in.ReadSlice('\n'); err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && !bytes.HasPrefix(line, []byte("HTTP/1.1 101 ")) {
			return fmt.Errorf("no upgrade: %s", line)
		}
	}
	raw.send(c.ask)
	_, reply, err := raw.frame()
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(reply, []byte(`{"id":1,"connect":{`)) {
		return fmt.Errorf("connect: %.200q", reply)
	}
	c.reply = reply
	s.t.Cleanup(func() { _ = conn.Close() })
	return nil
}

// resumed is what the test looks at of a room in a connect reply.
type resumed struct {
	Recovered    bool
	Epoch        string
	Offset       int64
	Publications []struct {
		Offset int64
		Data   json.RawMessage
	}
}

// told is what a person was told of his room.
func (s *storm) told(c *comer) resumed {
	s.t.Helper()
	line, _, _ := bytes.Cut(c.reply, []byte("\n"))
	var reply struct {
		Connect struct{ Subs map[string]resumed }
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	return reply.Connect.Subs[wire.RoomChannel(s.room(c.person))]
}
