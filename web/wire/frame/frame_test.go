package frame_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
	"hongbao/web/wire/frame"
)

func TestDecodeJSON(t *testing.T) {
	text := `{"id":1,"connect":{"token":"t","subs":{"room:r":{"recover":true,"epoch":"e","offset":41}}}}` + "\n" +
		`{}` + "\r\n" + `{"send":{"data":{"typing":{"room":"r"}}}}` + "\n" +
		` {"id":4294967295,"rpc":{"method":"grab","data":{"packet":"p"}},"unknown":[]}` + "\n"
	cmds := decoded(t, wire.JSON, []byte(text))
	if len(cmds) != 4 {
		t.Fatalf("%d commands, want 4", len(cmds))
	}
	if sub := cmds[0].Connect.Subs["room:r"]; cmds[0].Id != 1 || !sub.Recover || sub.Epoch != "e" || sub.Offset != 41 {
		t.Errorf("connect: %v", cmds[0])
	}
	if !frame.IsPong(cmds[1]) || frame.IsPong(cmds[2]) || frame.IsPong(cmds[0]) {
		t.Error("the second command alone is a pong")
	}
	if got := string(cmds[2].Send.Data); got != `{"typing":{"room":"r"}}` {
		t.Errorf("send: %s", got)
	}
	if rpc := cmds[3].Rpc; cmds[3].Id != 1<<32-1 || rpc.Method != "grab" || string(rpc.Data) != `{"packet":"p"}` {
		t.Errorf("rpc: %v", cmds[3])
	}
}

func TestDecodeProtobuf(t *testing.T) {
	data := binaryFrame(t, &protocol.Command{Id: 1, Connect: &protocol.ConnectRequest{Token: "t"}}, &protocol.Command{},
		&protocol.Command{Id: 2, Rpc: &protocol.RPCRequest{Method: "grab", Data: []byte(`{"packet":"p"}`)}})
	cmds := decoded(t, wire.Protobuf, data)
	if len(cmds) != 3 || cmds[0].Connect.Token != "t" || !frame.IsPong(cmds[1]) {
		t.Fatalf("%v", cmds)
	}
	clear(data) // the reader reuses its buffer
	if rpc := cmds[2].Rpc; cmds[2].Id != 2 || rpc.Method != "grab" || string(rpc.Data) != `{"packet":"p"}` {
		t.Errorf("rpc: %v", cmds[2])
	}
}

func TestDecodeRefuses(t *testing.T) {
	command := &protocol.Command{Id: 1, Ping: &protocol.PingRequest{}}
	many := make([]*protocol.Command, wire.CommandsPerFrame+1)
	for i := range many {
		many[i] = command
	}
	for name, c := range map[string]struct {
		encoding wire.Encoding
		frame    string
	}{
		"empty":               {wire.JSON, ""},
		"newline only":        {wire.JSON, "\n"},
		"empty line":          {wire.JSON, "{}\n\n{}"},
		"garbage":             {wire.JSON, "hello"},
		"null":                {wire.JSON, "null"},
		"array":               {wire.JSON, `[{"id":1,"ping":{}}]`},
		"cut off":             {wire.JSON, `{"id":1,"ping":{}`},
		"two on a line":       {wire.JSON, `{"id":1,"ping":{}}{"id":2,"ping":{}}`},
		"trailing garbage":    {wire.JSON, `{"id":1,"ping":{}} x`},
		"not UTF-8":           {wire.JSON, "{\"id\":1,\"rpc\":{\"method\":\"\xff\"}}"},
		"no id":               {wire.JSON, `{"rpc":{"method":"grab"}}`},
		"zero id":             {wire.JSON, `{"id":0,"rpc":{"method":"grab"}}`},
		"negative id":         {wire.JSON, `{"id":-1,"rpc":{"method":"grab"}}`},
		"id too large":        {wire.JSON, `{"id":4294967296,"rpc":{"method":"grab"}}`},
		"id with a point":     {wire.JSON, `{"id":1.0,"rpc":{"method":"grab"}}`},
		"id as text":          {wire.JSON, `{"id":"1","rpc":{"method":"grab"}}`},
		"method of a type":    {wire.JSON, `{"id":1,"rpc":{"method":7}}`},
		"no request":          {wire.JSON, `{"id":1}`},
		"null request":        {wire.JSON, `{"id":1,"rpc":null}`},
		"null sub":            {wire.JSON, `{"id":1,"connect":{"subs":{"room:r":null}}}`},
		"negative offset":     {wire.JSON, `{"id":1,"connect":{"subs":{"room:r":{"offset":-1}}}}`},
		"33 commands":         {wire.JSON, strings.Repeat("{}\n", 33)},
		"empty, binary":       {wire.Protobuf, ""},
		"33 commands, binary": {wire.Protobuf, string(binaryFrame(t, many...))},
		"no id, binary":       {wire.Protobuf, string(binaryFrame(t, &protocol.Command{Rpc: &protocol.RPCRequest{Method: "grab"}}))},
		"length too large":    {wire.Protobuf, "\x05\x08\x01"},
		"length overflows":    {wire.Protobuf, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"},
		"length cut off":      {wire.Protobuf, "\x80"},
		"bad message":         {wire.Protobuf, "\x02\xff\xff"},
	} {
		if cmds, err := frame.Decode(c.encoding, []byte(c.frame)); !errors.Is(err, frame.ErrProtocol) {
			t.Errorf("%s: got %v, %v, want a protocol error", name, cmds, err)
		}
	}
	if cmds := decoded(t, wire.JSON, []byte(strings.Repeat("{}\n", 32))); len(cmds) != 32 {
		t.Errorf("%d commands of 32", len(cmds))
	}
}

func decoded(t *testing.T, e wire.Encoding, data []byte) []*protocol.Command {
	t.Helper()
	cmds, err := frame.Decode(e, data)
	if err != nil {
		t.Fatal(err)
	}
	return cmds
}

// binaryFrame returns a frame of a client with the Protobuf encoding.
func binaryFrame(t testing.TB, cmds ...*protocol.Command) []byte {
	t.Helper()
	var data []byte
	for _, c := range cmds {
		b, err := c.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		data = append(binary.AppendUvarint(data, uint64(len(b))), b...)
	}
	return data
}

// FuzzDecode checks that a frame is either refused as a whole, or has only commands that a session can use
// without further checks.
func FuzzDecode(f *testing.F) {
	f.Add(false, []byte(`{"id":1,"connect":{"token":"t","subs":{"room:r":{"recover":true,"epoch":"e","offset":41}}}}`+"\n{}"))
	f.Add(false, []byte(`{"id":7,"rpc":{"method":"send","data":{"room":"r","key":"k","text":"\u0000"}}}`))
	f.Add(false, []byte(`{"send":{"data":null}}`))
	f.Add(true, binaryFrame(f, &protocol.Command{Id: 1, Connect: &protocol.ConnectRequest{
		Token: "t", Subs: map[string]*protocol.SubscribeRequest{"room:r": {Recover: true, Offset: 41}},
	}}, &protocol.Command{}))
	f.Add(true, binaryFrame(f, &protocol.Command{Id: 2, Rpc: &protocol.RPCRequest{Method: "grab", Data: []byte(`{}`)}}))
	f.Fuzz(func(t *testing.T, binary bool, data []byte) {
		e := wire.JSON
		if binary {
			e = wire.Protobuf
		}
		cmds, err := frame.Decode(e, data)
		if err != nil {
			if !errors.Is(err, frame.ErrProtocol) || len(cmds) > 0 {
				t.Fatalf("%v, %v", cmds, err)
			}
			return
		}
		if len(cmds) == 0 || len(cmds) > wire.CommandsPerFrame {
			t.Fatalf("%d commands", len(cmds))
		}
		for _, c := range cmds {
			if c.Id == 0 && !frame.IsPong(c) && c.Send == nil {
				t.Fatalf("no id: %v", c)
			}
			for _, sub := range c.GetConnect().GetSubs() {
				if sub == nil {
					t.Fatal("nil sub")
				}
			}
			if !binary && c.Rpc != nil && c.Rpc.Data != nil && !json.Valid(c.Rpc.Data) {
				t.Fatalf("data is not JSON: %q", c.Rpc.Data)
			}
		}
	})
}
