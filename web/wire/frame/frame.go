// Package frame decodes the frames of clients into commands. It must always hold: a frame is refused as a whole, or each of its
// commands has the form that Decode promises. The order of commands, ids in use, and the data of requests are checked elsewhere.
package frame

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
	"hongbao/web/wire/internal/scan"
)

// ErrProtocol means that a frame violates the protocol. The caller must then close the connection with wire.CloseProtocolError.
var ErrProtocol = errors.New("protocol error")

// Decode decodes the commands of one frame. Each is a pong (see IsPong), a send without an id, or a command with an id and
// at least one request. The commands do not share memory with the frame. Callers must not modify pongs, which may be shared. Any
// error wraps ErrProtocol.
func Decode(e wire.Encoding, frame []byte) ([]*protocol.Command, error) {
	var one [1]*protocol.Command // on the caller's stack, because this function is inlined
	return decode(e, frame, one[:0])
}

func decode(e wire.Encoding, frame []byte, cmds []*protocol.Command) ([]*protocol.Command, error) {
	next := nextJSON
	if e == wire.Protobuf {
		next = nextProtobuf
	} else if !utf8.Valid(frame) {
		return nil, broken("text is not UTF-8")
	}
	if len(frame) == 0 {
		return nil, broken("empty frame")
	}
	for len(frame) > 0 {
		if len(cmds) == wire.CommandsPerFrame {
			return nil, broken("more than %d commands", wire.CommandsPerFrame)
		}
		cmd, rest, err := next(frame)
		if err == nil {
			err = checkCommand(cmd)
		}
		if err != nil {
			return nil, err
		}
		cmds, frame = append(cmds, cmd), rest
	}
	return cmds, nil
}

// IsPong reports whether the command is the answer to a ping.
func IsPong(c *protocol.Command) bool { return c.Id == 0 && !hasRequest(c) }

// nextJSON decodes the first line of a frame and returns the rest. The last line may end in a newline; an empty line is an error.
func nextJSON(frame []byte) (*protocol.Command, []byte, error) {
	line, rest, _ := bytes.Cut(frame, []byte("\n"))
	if cmd := plainCommand(line); cmd != nil {
		return cmd, rest, nil
	}
	if !bytes.HasPrefix(bytes.TrimLeft(line, " \t\r"), []byte("{")) {
		return nil, nil, broken("a line is not an object")
	}
	cmd := new(protocol.Command)
	if err := json.Unmarshal(line, cmd); err != nil {
		return nil, nil, broken("%v", err)
	}
	return cmd, rest, nil
}

func nextProtobuf(frame []byte) (*protocol.Command, []byte, error) {
	size, n := binary.Uvarint(frame)
	if n <= 0 || size > uint64(len(frame)-n) {
		return nil, nil, broken("bad length of a message")
	}
	end := n + int(size)
	if size == 0 {
		return pong, frame[end:], nil
	}
	cmd := new(protocol.Command)
	if err := cmd.UnmarshalVT(frame[n:end]); err != nil {
		return nil, nil, broken("%v", err)
	}
	return cmd, frame[end:], nil
}

func checkCommand(c *protocol.Command) error {
	switch {
	case c.Id == 0 && hasRequest(c) && c.Send == nil:
		return broken("a command without id")
	case c.Id != 0 && !hasRequest(c):
		return broken("a command without request")
	}
	for _, sub := range c.GetConnect().GetSubs() {
		if sub == nil {
			return broken("null in subs")
		}
	}
	return nil
}

func hasRequest(c *protocol.Command) bool {
	return c.Rpc != nil || c.Send != nil || c.Connect != nil || c.Refresh != nil || c.Subscribe != nil ||
		c.Unsubscribe != nil || c.Publish != nil || c.Presence != nil || c.PresenceStats != nil ||
		c.History != nil || c.Ping != nil || c.SubRefresh != nil
}

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// pong is shared by all pongs in their usual form: each connection sends one about every 25 seconds.
var pong = new(protocol.Command)

// methodNames holds the names of commands, so that a decoded command needs no copy of its name.
var methodNames = func() map[string]string {
	names := map[string]string{}
	for _, m := range wire.Methods {
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
