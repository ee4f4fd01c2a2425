package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire/internal/scan"
)

// Encoding is the encoding of a connection's messages.
type Encoding uint8

// The two encodings.
const (
	JSON     Encoding = iota // one object per line
	Protobuf                 // each message after its varint length
)

// ErrProtocol means that a frame violates the protocol. The connection is then closed with CloseProtocolError.
var ErrProtocol = errors.New("protocol error")

// DecodeFrame decodes the commands of one frame. Each is a pong (see IsPong), a send without an id, or a command with an id and
// at least one request. The commands do not share memory with the frame. Callers must not modify pongs, which are shared. Any
// error wraps ErrProtocol.
func DecodeFrame(e Encoding, frame []byte) ([]*protocol.Command, error) {
	var one [1]*protocol.Command // on the caller's stack, because this function is inlined
	return decodeFrame(e, frame, one[:0])
}

func decodeFrame(e Encoding, frame []byte, cmds []*protocol.Command) ([]*protocol.Command, error) {
	next := nextJSON
	if e == Protobuf {
		next = nextProtobuf
	} else if !utf8.Valid(frame) {
		return nil, broken("text is not UTF-8")
	}
	if len(frame) == 0 {
		return nil, broken("empty frame")
	}
	for len(frame) > 0 {
		if len(cmds) == CommandsPerFrame {
			return nil, broken("more than %d commands", CommandsPerFrame)
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

// MaxInt is the largest absolute value of an integer on the wire. Every JSON parser can hold it exactly.
const MaxInt = 1<<53 - 1

// FieldError describes what is invalid in a request. Field is the field's name on the wire, or "data" for the whole request.
type FieldError struct {
	Field  string
	Reason string
}

func (e *FieldError) Error() string { return e.Field + " " + e.Reason }

// Decode decodes the data of a request into a struct pointer, as the struct's tags say:
//
//   - json names the field. With omitempty the field is optional. Without, it is required, and a string must not be empty.
//   - min is the least integer allowed.
//
// No data and null stand for {}. Unknown fields are ignored, names match exactly, and of a repeated name the last one
// counts. Any error is a *FieldError.
func Decode(data []byte, into any) error {
	if !utf8.Valid(data) {
		return &FieldError{"data", "is not UTF-8"}
	}
	v := reflect.ValueOf(into).Elem()
	fields := fieldsOf(v.Type())
	var few [maxFields]json.RawMessage
	raws := few[:len(fields)]
	if !split(data, fields, raws) {
		return &FieldError{"data", "is not a JSON object"}
	}
	for i := range fields {
		if err := fields[i].decode(raws[i], v.Field(i)); err != nil {
			return err
		}
	}
	if holdsNUL(data) { // U+0000 is in a name or in an unknown field
		return &FieldError{"data", "holds U+0000"}
	}
	return nil
}

// split finds the raw values of an object's fields, nil if missing. It returns false unless data is an object, null or empty.
func split(data []byte, fields []field, raws []json.RawMessage) bool {
	if len(data) == 0 || splitPlain(data, fields, raws) {
		return true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return false
	}
	for i := range fields {
		raws[i] = members[fields[i].name]
	}
	return true
}

func splitPlain(data []byte, fields []field, raws []json.RawMessage) bool {
	s := scan.New(data)
	return s.Object(func(name []byte) bool {
		raw, ok := s.Value()
		for i := range fields {
			if fields[i].name == string(name) {
				raws[i] = raw
			}
		}
		return ok
	}) && s.AtEnd()
}

// decode sets the field of v. raw is nil if the request does not have the field.
func (f *field) decode(raw json.RawMessage, v reflect.Value) error {
	switch {
	case raw == nil && f.optional:
		return nil
	case raw == nil:
		return &FieldError{f.name, "is missing"}
	case holdsNUL(raw):
		return &FieldError{f.name, "holds U+0000"}
	}
	if reason := decodeValue(raw, f.least, v); reason != "" {
		return &FieldError{f.name, reason}
	}
	if !f.optional && v.Kind() == reflect.String && v.Len() == 0 {
		return &FieldError{f.name, "is empty"}
	}
	return nil
}

// decodeValue decodes raw into v. It returns why raw is invalid, or "".
func decodeValue(raw json.RawMessage, least int64, v reflect.Value) (reason string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(raw, least, v.Elem())
	case reflect.String:
		text, ok := decodeString(raw)
		if !ok {
			return "is not a string"
		}
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(raw), 10, 64) // raw is valid JSON, so only the literal of a whole number can be parsed
		switch {
		case err != nil:
			return "is not an integer in range"
		case n > MaxInt || n < least:
			return "is out of range"
		}
		v.SetInt(n)
	case reflect.Bool:
		if string(raw) != "true" && string(raw) != "false" {
			return "is not true or false"
		}
		v.SetBool(raw[0] == 't')
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return decodeObject(raw, v)
		}
		return decodeStrings(raw, v)
	default:
		panic("wire: no decoder for " + v.Type().String())
	}
	return ""
}

func decodeString(raw json.RawMessage) (text string, ok bool) {
	switch {
	case raw[0] != '"':
		return "", false
	case bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : len(raw)-1]), true
	}
	var unescaped string // declared here because it is allocated on the heap
	err := json.Unmarshal(raw, &unescaped)
	return unescaped, err == nil
}

// decodeObject checks that raw is an object and stores it without insignificant space.
func decodeObject(raw json.RawMessage, v reflect.Value) (reason string) {
	var compact bytes.Buffer
	if raw[0] != '{' || json.Compact(&compact, raw) != nil {
		return "is not an object"
	}
	v.SetBytes(compact.Bytes())
	return ""
}

// decodeStrings decodes a list of non-empty strings.
func decodeStrings(raw json.RawMessage, v reflect.Value) (reason string) {
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return "is not a list"
	}
	list := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		if reason := decodeValue(item, 0, list.Index(i)); reason != "" {
			return "holds what " + reason
		}
		if list.Index(i).Len() == 0 {
			return "holds an empty string"
		}
	}
	v.Set(list)
	return ""
}

// holdsNUL reports whether a string in a valid JSON document contains U+0000, which must be written as an escape there.
func holdsNUL(doc []byte) bool {
	escape := []byte(`\u0000`)
	for bytes.Contains(doc, escape) {
		i := bytes.IndexByte(doc, '\\')
		if bytes.HasPrefix(doc[i:], escape) {
			return true
		}
		doc = doc[i+2:] // skips any other escape; `\\` must not be taken for the start of one
	}
	return false
}

// field describes a field of a request type, from its tags; see Decode.
type field struct {
	name     string
	optional bool
	least    int64 // smallest allowed integer
}

// maxFields is the largest number of fields of a request.
const maxFields = 12

var knownFields sync.Map // the []field of each request type, by reflect.Type

// fieldsOf returns the fields of a request's struct, in order.
func fieldsOf(t reflect.Type) []field {
	if known, ok := knownFields.Load(t); ok {
		return known.([]field)
	}
	fields := make([]field, t.NumField())
	for i := range fields {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[i] = field{name: name, optional: option == "omitempty", least: leastOf(f.Tag.Get("min"))}
	}
	knownFields.Store(t, fields)
	return fields
}

func leastOf(tag string) int64 {
	if tag == "" {
		return -MaxInt
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil {
		panic("wire: bad min tag " + tag)
	}
	return n
}
