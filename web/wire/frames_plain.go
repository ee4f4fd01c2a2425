package wire

import (
	"bytes"
	"math"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire/internal/scan"
)

// pong is shared by all pongs in their usual form: each connection sends one every half minute.
var pong = new(protocol.Command)

// methodNames holds the names of commands, so that a decoded command needs no copy of its name.
var methodNames = func() map[string]string {
	names := map[string]string{}
	for _, m := range Methods {
		names[m.Name] = m.Name
	}
	return names
}()

// plainCommand decodes a pong, or an rpc in the form that clients usually write. For any other line it returns nil, and
// the caller uses encoding/json.
func plainCommand(line []byte) *protocol.Command {
	if string(line) == "{}" {
		return pong
	}
	var id uint64
	var method, data []byte
	s := scan.New(line)
	rpc := func(name []byte) (ok bool) {
		switch string(name) {
		case "method":
			method, ok = s.Quoted()
		case "data":
			data, ok = s.Value()
		}
		return ok
	}
	ok := s.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "id":
			id, ok = commandID(&s)
		case "rpc":
			ok = s.Object(rpc)
		}
		return ok
	})
	if !ok || !s.AtEnd() || id == 0 || method == nil {
		return nil
	}
	both := new(struct { // allocates command and request together
		protocol.Command
		rpc protocol.RPCRequest
	})
	both.Id, both.Rpc = uint32(id), &both.rpc
	both.rpc.Method, both.rpc.Data = methodName(method), bytes.Clone(data)
	return &both.Command
}

// commandID decodes the id of a command.
func commandID(s *scan.Scanner) (id uint64, ok bool) {
	digits, ok := s.Value()
	for _, c := range digits {
		if id = id*10 + uint64(c-'0'); c < '0' || c > '9' || id > math.MaxUint32 {
			return 0, false
		}
	}
	return id, ok
}

func methodName(method []byte) string {
	if name, ok := methodNames[string(method)]; ok {
		return name
	}
	return string(method)
}
