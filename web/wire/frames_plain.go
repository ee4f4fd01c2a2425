package wire

import (
	"bytes"
	"math"

	"github.com/centrifugal/protocol"
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
	s := scanner{text: line}
	rpc := func(name []byte) (ok bool) {
		switch string(name) {
		case "method":
			method, ok = s.quoted()
		case "data":
			data, ok = s.value(0)
		}
		return ok
	}
	ok := s.object(func(name []byte) (ok bool) {
		switch string(name) {
		case "id":
			id, ok = s.id()
		case "rpc":
			ok = s.object(rpc)
		}
		return ok
	})
	if !ok || !s.atEnd() || id == 0 || method == nil {
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

// id decodes the id of a command.
func (s *scanner) id() (id uint64, ok bool) {
	s.space()
	from := s.at
	if !s.integer() {
		return 0, false
	}
	for _, c := range s.text[from:s.at] {
		if id = id*10 + uint64(c-'0'); c == '-' || id > math.MaxUint32 {
			return 0, false
		}
	}
	return id, true
}

func methodName(method []byte) string {
	if name, ok := methodNames[string(method)]; ok {
		return name
	}
	return string(method)
}
