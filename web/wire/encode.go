package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/centrifugal/protocol"
)

const roomPrefix = "room:"

// RoomChannel is the channel of a room.
func RoomChannel(room string) string { return roomPrefix + room }

// ChannelRoom is the room of a channel.
func ChannelRoom(channel string) (room string, ok bool) {
	return strings.CutPrefix(channel, roomPrefix)
}

// Ping is the liveness message.
func Ping(e Encoding) []byte {
	if e == Protobuf {
		return []byte{}
	}
	return []byte("{}")
}

// RPCReply answers an rpc; data is a JSON document.
func RPCReply(e Encoding, id uint32, data []byte) []byte {
	if e == Protobuf {
		return must((&protocol.Reply{Id: id, Rpc: &protocol.RPCResult{Data: data}}).MarshalVT())
	}
	data = oneLine(data)
	b := append(make([]byte, 0, 48+len(data)), `{"id":`...)
	b = strconv.AppendUint(b, uint64(id), 10)
	b = append(append(b, `,"rpc":{"data":`...), data...)
	return append(b, "}}"...)
}

// ErrorReply answers any command that failed.
func ErrorReply(e Encoding, id uint32, err Error) []byte {
	return must(encodeReply(e, &protocol.Reply{Id: id, Error: &protocol.Error{
		Code: uint32(err.Code), Message: err.Message, Temporary: err.Temporary,
	}}))
}

// ConnectReply answers connect. The data of the result and of its publications are JSON documents; an
// error means that one of them is not.
func ConnectReply(e Encoding, id uint32, r *protocol.ConnectResult) ([]byte, error) {
	return encodeReply(e, &protocol.Reply{Id: id, Connect: r})
}

// RefreshReply answers refresh.
func RefreshReply(e Encoding, id uint32, r *protocol.RefreshResult) []byte {
	return must(encodeReply(e, &protocol.Reply{Id: id, Refresh: r}))
}

// PublicationPush is an entry on its way to a room's members; entry is its EntryJSON.
func PublicationPush(e Encoding, channel string, seq int64, entry []byte) []byte {
	if e == Protobuf {
		pub := &protocol.Publication{Data: entry, Offset: uint64(seq)}
		return must((&protocol.Reply{Push: &protocol.Push{Channel: channel, Pub: pub}}).MarshalVT())
	}
	entry = oneLine(entry)
	b := appendPush(make([]byte, 0, 80+len(channel)+len(entry)), channel)
	b = append(append(b, `"pub":{"data":`...), entry...)
	b = strconv.AppendInt(append(b, `,"offset":`...), seq, 10)
	return append(b, "}}}"...)
}

// MessagePush is a push outside any sequence; data is the JSON of a Message.
func MessagePush(e Encoding, data []byte) []byte {
	if e == Protobuf {
		return must((&protocol.Reply{Push: &protocol.Push{Message: &protocol.Message{Data: data}}}).MarshalVT())
	}
	data = oneLine(data)
	b := append(make([]byte, 0, 32+len(data)), `{"push":{"message":{"data":`...)
	return append(append(b, data...), "}}}"...)
}

// SubscribePush tells a client that it is in a room, from position on.
func SubscribePush(e Encoding, channel, epoch string, position int64, data Joined) []byte {
	return must(encodeReply(e, &protocol.Reply{Push: &protocol.Push{Channel: channel, Subscribe: &protocol.Subscribe{
		Recoverable: true, Positioned: true, Epoch: epoch, Offset: uint64(position), Data: must(Marshal(data)),
	}}}))
}

// UnsubscribePush tells a client that it is out of a room.
func UnsubscribePush(e Encoding, channel, reason string) []byte {
	return must(encodeReply(e, &protocol.Reply{Push: &protocol.Push{Channel: channel, Unsubscribe: &protocol.Unsubscribe{
		Code: UnsubscribeCode, Reason: reason,
	}}}))
}

// Marshal is json.Marshal on one line and without the escapes that only HTML asks for. It fails only when
// an entry's body is no JSON.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func encodeReply(e Encoding, r *protocol.Reply) ([]byte, error) {
	if e == Protobuf {
		return r.MarshalVT()
	}
	return Marshal(r)
}

// must is for messages that hold nothing that could fail to be encoded.
func must(b []byte, err error) []byte {
	if err != nil {
		panic("wire: " + err.Error())
	}
	return b
}

// appendPush begins a push on a channel.
func appendPush(b []byte, channel string) []byte {
	return append(appendString(append(b, `{"push":{"channel":`...), channel), ',')
}
