package strict

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzSplit splits random objects with the scanner and with encoding/json. Whenever the scanner accepts an object, the members
// must be equal.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{
		`{"room":"r","room":"q","seq":-1,"on":false,"users":["a"],"data":{"x":null}}`, `{"packet":"p-1","passphrase":"芝麻开门"}`, " { \"room\" : \"r\" } \r\n",
		`{}`, `{`, ``, `null`, `[]`, `{"r\u006fom":"r"}`, `{"room":"a\n"}`, `{"seq":01}`, `{"data":{"x":1.5}}`, `{"data":[[[[[[[[[]]]]]]]]]}`, `{} {}`, `{"on":true,}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if utf8.Valid(text) {
			sameMembers(t, text)
		}
	})
}

// sameMembers compares how both split an object into the members that any request may have.
func sameMembers(t *testing.T, text []byte) {
	fields := []field{{name: "room"}, {name: "seq"}, {name: "data"}, {name: "on"}, {name: "users"}}
	raws := make([]json.RawMessage, len(fields))
	if !splitPlain(text, fields, raws) {
		return
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for i, f := range fields {
		if !bytes.Equal(raws[i], members[f.name]) {
			t.Fatalf("%q: %s\n got %q\nwant %q", text, f.name, raws[i], members[f.name])
		}
		if raws[i] == nil || string(raws[i]) == "null" {
			continue
		}
		var want string
		err := json.Unmarshal(raws[i], &want)
		if got, ok := decodeString(raws[i]); ok != (err == nil) || got != want {
			t.Fatalf("%q: %s\n got %q\nwant %q", text, f.name, got, want)
		}
	}
}
