package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
)

// FuzzEntryJSON: an entry, whatever its texts are, is one line of valid JSON that says what json.Marshal says.
func FuzzEntryJSON(f *testing.F) {
	for _, e := range []wire.Entry{textEntry(), packetEntry(), doneEntry(), richEntry()} {
		f.Add(e.Seq, e.ID, e.From.Name, e.From.Avatar, e.Kind, e.Key, []byte(e.Body))
	}
	f.Add(int64(-1), "e\\", "\xff a\u2028 \U0001f9e7 </script>", "\x00\x1f\x7f", "te\"xt", "\n", []byte("{\n \"a\": [1,\n2]}"))
	f.Fuzz(func(t *testing.T, seq int64, id, name, avatar, kind, key string, body []byte) {
		if !json.Valid(body) {
			body = nil
		}
		e := wire.Entry{Seq: seq, ID: id, At: -seq, From: wire.User{ID: key, Name: name, Avatar: avatar}, Kind: kind, Key: key, Body: body}
		got := wire.EntryJSON(e)
		if bytes.IndexByte(got, '\n') >= 0 || utf8.Valid(body) && !utf8.Valid(got) {
			t.Fatalf("not one line of UTF-8: %q", got)
		}
		var a, b wire.Entry
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if err := json.Unmarshal(must(e), &b); err != nil {
			t.Fatal(err)
		}
		if x, y := must(a), must(b); !bytes.Equal(x, y) {
			t.Errorf("\n got %s\nwant %s", x, y)
		}
	})
}

// FuzzConnectReply: what was missed of a room reaches the SDKs' decoders as it is, in both encodings.
func FuzzConnectReply(f *testing.F) {
	f.Add("room:r-1", "ep-1", uint64(43), true, []byte(`{"rooms":[]}`), wire.EntryJSON(textEntry()))
	f.Add("room:\n\"", "", uint64(1<<63), false, []byte("null"), wire.EntryJSON(doneEntry()))
	f.Add("", "\u2028", uint64(0), true, []byte("[1,\n2]"), []byte(" {\"a\" : \"<&>\"}\n"))
	f.Fuzz(func(t *testing.T, channel, epoch string, offset uint64, recovered bool, data, entry []byte) {
		if !utf8.ValidString(channel) || !utf8.ValidString(epoch) || !json.Valid(data) || !json.Valid(entry) {
			return
		}
		result := &protocol.ConnectResult{Client: epoch, Ttl: uint32(offset), Data: data, Subs: map[string]*protocol.SubscribeResult{channel: {
			Recoverable: true, Epoch: epoch, Offset: offset, Recovered: recovered,
			Publications: []*protocol.Publication{{Offset: offset, Data: entry}, {Data: data}},
		}}}
		line, err := wire.ConnectReply(wire.JSON, 7, result)
		if err != nil || bytes.IndexByte(line, '\n') >= 0 {
			t.Fatalf("%v, %q", err, line)
		}
		framed, err := wire.ConnectReply(wire.Protobuf, 7, result)
		if err != nil {
			t.Fatal(err)
		}
		framed = append(binary.AppendUvarint(nil, uint64(len(framed))), framed...)
		fromJSON, err := protocol.NewJSONReplyDecoder(line).Decode()
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		fromProtobuf, err := protocol.NewProtobufReplyDecoder(framed).Decode()
		if err != nil {
			t.Fatal(err)
		}
		want := canonical(t, &protocol.Reply{Id: 7, Connect: result})
		if a, b := canonical(t, fromJSON), canonical(t, fromProtobuf); a != want || b != want {
			t.Errorf("\n    json %s\nprotobuf %s\n    want %s", a, b, want)
		}
	})
}
