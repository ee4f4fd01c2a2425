package frame

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/centrifugal/protocol"
)

// plainLines holds commands as clients usually write them. plainCommand must accept all of them.
var plainLines = []string{
	`{}`,
	`{"id":1,"rpc":{"method":"grab","data":{"packet":"p-1"}}}`,
	`{"rpc":{"data":{"packet":"p-1","passphrase":"芝麻开门"},"method":"grab"},"id":4294967295}`,
	"{ \"id\": 7, \"rpc\": { \"method\": \"wallet\", \"data\": {} } } \r",
	`{"id":2,"rpc":{"method":"history","data":{"room":"r","before":0,"limit":50}}}`,
	`{"id":3,"rpc":{"method":"send","data":{"room":"r","key":"k","text":"t","data":{"a":[{"b":[-1,true,null]},[]]},"mentions":["u-1","u-2"]}}}`,
	`{"id":4,"rpc":{"method":"no_such_method"}}`,
	`{"id":5,"rpc":{"method":"wallet","data":null}}`,
}

// oddLines holds valid and invalid lines that plainCommand must leave to encoding/json.
var oddLines = []string{
	`{"id":1,"rpc":{"method":"gr\u0061b"}}`, `{"ID":1,"rpc":{"method":"grab"}}`, `{"id":1,"rpc":null}`, `{"id":1,"rpc":{"Method":"grab"}}`,
	`{"id":1,"rpc":{"method":"send","data":{"text":"a\n"}}}`, `{"id":1,"rpc":{"method":"grab"},"send":{}}`, `{"id":1,"rpc":{}}`,
	`{"id":01,"rpc":{"method":"grab"}}`, `{"id":-0,"rpc":{"method":"grab"}}`, `{"id":4294967296,"rpc":{"method":"grab"}}`, `{"id":1.0,"rpc":{"method":"grab"}}`,
	`{"id":99999999999999999999999999,"rpc":{"method":"grab"}}`, `{"id":1,"rpc":{"method":"grab"}} {}`, `{"id":1,"rpc":{"method":"grab"},}`,
	`{"id":1,"rpc":{"method":"grab","data":{"x":1.5}}}`, `{"id":1,"rpc":{"method":"grab","data":[[[[[[[[[]]]]]]]]]}}`, "{\"id\":1,\"rpc\":{\"method\":\"a\tb\"}}",
	`{"id":1,"rpc":{"method":"a","data":{"x":"a"},"data":{"y":[nul]}}}`, `{"id":1,"rpc":{"method":"a"`, `{"id":1,"rpc":{"method":"a","data":tru}}`, `{`, ``, `null`, `{"id":1}`, `{"id":0,"rpc":{"method":"grab"}}`, `{"rpc":{"method":"grab"}}`,
}

func TestPlain(t *testing.T) {
	for _, line := range plainLines {
		if plainCommand([]byte(line)) == nil {
			t.Errorf("%s: left to encoding/json", line)
		}
	}
	for _, line := range oddLines {
		if cmd := plainCommand([]byte(line)); cmd != nil {
			t.Errorf("%s: read as %v", line, cmd)
		}
	}
}

// FuzzScan parses random lines with the scanner and with encoding/json. Whenever the scanner accepts a line, the
// commands must be equal.
func FuzzScan(f *testing.F) {
	for _, line := range append(plainLines, oddLines...) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"id":1,"id":2,"rpc":{"method":"a","data":1},"rpc":{"method":"b"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if utf8.Valid(text) {
			sameCommand(t, text)
		}
	})
}

// sameCommand compares a plain command with what encoding/json decodes from its line.
func sameCommand(t *testing.T, line []byte) {
	cmd, want := plainCommand(line), new(protocol.Command)
	if cmd == nil {
		return
	}
	if err := json.Unmarshal(line, want); err != nil || checkCommand(want) != nil {
		t.Fatalf("%q read as %v: %v, %v", line, cmd, err, checkCommand(want))
	}
	if !reflect.DeepEqual(want, cmd) {
		t.Fatalf("%q\n got %v\nwant %v", line, cmd, want)
	}
}
