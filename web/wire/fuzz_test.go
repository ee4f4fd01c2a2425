package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
)

// FuzzEntryJSON checks that any entry is encoded as one line of valid JSON with the same value as from json.Marshal.
func FuzzEntryJSON(f *testing.F) {
	for _, e := range []wire.Entry{textEntry(), packetEntry(), doneEntry(), richEntry()} {
		f.Add(e.Seq, e.ID, e.From.Name, e.From.Avatar, e.Kind, e.Key, []byte(e.Body))
	}
	f.Add(int64(-1), "e\\", "\xff a\u2028 \U0001f9e7 </script>", "\x00\x1f\x7f", "te\"xt", "\n", []byte("{\n \"a\": [1,\n2]}"))
	f.Fuzz(func(t *testing.T, seq int64, id, name, avatar, kind, key string, body []byte) {
		if !json.Valid(body) {
			body = nil
		}
		e := wire.Entry{Seq: seq, ID: id, At: -seq, From: wire.User{ID: key, Name: name, Avatar: avatar, Guest: seq%2 == 0}, Kind: kind, Key: key, Body: body}
		got := wire.EntryJSON(e)
		if bytes.IndexByte(got, '\n') >= 0 || utf8.Valid(body) && !utf8.Valid(got) {
			t.Fatalf("not one line of UTF-8: %q", got)
		}
		var a, b wire.Entry
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		noError(t, json.Unmarshal(must(e), &b))
		if x, y := must(a), must(b); !bytes.Equal(x, y) {
			t.Errorf("\n got %s\nwant %s", x, y)
		}
	})
}

// FuzzByHand compares the hand-written JSON encoders with json.Marshal. They must give one line of valid JSON with the
// same value.
func FuzzByHand(f *testing.F) {
	f.Add("p-1", "won", int64(134), 1, int64(1767225602000), int64(10134), true)
	f.Add("p-1", "empty", int64(0), 0, int64(0), int64(0), false)
	f.Add("\"\n\u2028", "\\</script>", int64(-1), -1, int64(1), int64(0), true)
	f.Fuzz(func(t *testing.T, packet, word string, amount int64, rank int, at, balance int64, has bool) {
		grab := wire.GrabReply{Packet: packet, Outcome: word, User: word, Amount: amount, Rank: rank, At: at, Claimed: rank, Count: int(at), Waiting: rank}
		latest := []string{}
		if has {
			grab.Balance, grab.AccountVersion, latest = &balance, at, []string{packet, word}
			grab.Wave, grab.Participants = rank, rank
			grab.Receipt = &wire.Receipt{Packet: packet, Wave: rank, User: word, Leaf: word, At: at, Key: packet, Signature: word}
		}
		wallet := wire.WalletPush{Balance: balance, AccountVersion: at, Change: amount, Kind: word, Packet: packet, NextCommitment: word}
		progress := wire.ProgressPush{Packet: packet, Room: word, Claimed: rank, Count: int(at), Latest: latest, Participants: rank}
		failure := wire.Error{Code: wire.Code(uint32(at) | 1), Message: packet, Temporary: has}
		reply, err := wire.RPCReply(wire.JSON, uint32(amount), grab)
		noError(t, err)
		for _, c := range []struct {
			got  []byte
			want any
		}{
			{must(grab), plain(grab)},
			{wallet.MessageJSON(), plain(wire.Message{Wallet: &wallet})},
			{progress.MessageJSON(), plain(wire.Message{PacketProgress: &progress})},
			{reply, plain(map[string]any{"id": uint32(amount), "rpc": map[string]any{"data": grab}})},
			{wire.ErrorReply(wire.JSON, uint32(amount), failure), plain(map[string]any{"id": uint32(amount), "error": &protocol.Error{
				Code: uint32(at) | 1, Message: packet, Temporary: has,
			}})},
		} {
			var got any
			if err := json.Unmarshal(c.got, &got); err != nil || bytes.IndexByte(c.got, '\n') >= 0 || !utf8.Valid(c.got) {
				t.Fatalf("%v: %q", err, c.got)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("\n got %s\nwant %v", c.got, c.want)
			}
		}
	})
}

// FuzzPrefixed decodes the hand-written Protobuf with the protocol's own decoder. The values must be the same.
func FuzzPrefixed(f *testing.F) {
	f.Add("room:r-1", int64(42), uint32(7), wire.EntryJSON(textEntry()))
	f.Add("", int64(1), uint32(1<<32-1), bytes.Repeat([]byte("1"), 20_000))
	f.Add("room:\u0000", int64(1<<53-1), uint32(0), []byte{})
	f.Fuzz(func(t *testing.T, channel string, seq int64, id uint32, data []byte) {
		if !utf8.ValidString(channel) {
			return
		}
		grab := wire.GrabReply{Packet: channel, At: seq}
		reply, err := wire.RPCReply(wire.Protobuf, id, grab)
		noError(t, err)
		for _, c := range []struct {
			frame []byte
			want  *protocol.Reply
		}{
			{reply, &protocol.Reply{Id: id, Rpc: &protocol.RPCResult{Data: must(grab)}}},
			{wire.MessagePush(wire.Protobuf, data), &protocol.Reply{Push: &protocol.Push{Message: &protocol.Message{Data: data}}}},
			{wire.PublicationPush(wire.Protobuf, channel, seq, data), &protocol.Reply{Push: &protocol.Push{
				Channel: channel, Pub: &protocol.Publication{Data: data, Offset: uint64(seq)},
			}}},
		} {
			var got protocol.Reply
			noError(t, got.UnmarshalVT(c.frame))
			if a, b := encoded(t, &got), encoded(t, c.want); !bytes.Equal(a, b) {
				t.Errorf("\n got %v\nwant %v", &got, c.want)
			}
		}
	})
}

func encoded(t *testing.T, r *protocol.Reply) []byte {
	t.Helper()
	b, err := r.MarshalVT()
	noError(t, err)
	return b
}

// plain returns a value after a round trip through encoding/json.
func plain(v any) (read any) {
	written, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(written, &read)
	}
	if err != nil {
		panic(err)
	}
	return read
}

// FuzzConnectReply decodes connect replies as the SDKs do. The missed entries must be unchanged, in both encodings.
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
		noError(t, err)
		framed = append(binary.AppendUvarint(nil, uint64(len(framed))), framed...)
		fromJSON, err := protocol.NewJSONReplyDecoder(line).Decode()
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		fromProtobuf, err := protocol.NewProtobufReplyDecoder(framed).Decode()
		noError(t, err)
		want := canonical(t, &protocol.Reply{Id: 7, Connect: result})
		if a, b := canonical(t, fromJSON), canonical(t, fromProtobuf); a != want || b != want {
			t.Errorf("\n    json %s\nprotobuf %s\n    want %s", a, b, want)
		}
	})
}
