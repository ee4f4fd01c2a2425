package wire

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/centrifugal/protocol"
)

const roomPrefix = "room:"

// RoomChannel returns the channel of a room.
func RoomChannel(room string) string { return roomPrefix + room }

// ChannelRoom returns the room of a channel.
func ChannelRoom(channel string) (room string, ok bool) {
	return strings.CutPrefix(channel, roomPrefix)
}

// Ping returns the message that checks whether a connection is alive.
func Ping(e Encoding) []byte {
	if e == Protobuf {
		return []byte{}
	}
	return []byte("{}")
}

// RPCReply returns the reply to an rpc. It fails if the data cannot be encoded; see Marshal.
func RPCReply(e Encoding, id uint32, reply any) ([]byte, error) {
	if e == Protobuf {
		b, err := appendJSON(make([]byte, prefixRoom, shortMessage), reply)
		if err != nil {
			return nil, err
		}
		p := prefixed{b: b, at: prefixRoom}
		p.prefix(rpcData)
		p.prefix(replyRPC)
		p.before(uint64(id), replyID<<3)
		return p.message(), nil
	}
	b, err := appendJSON(append(appendReply(id), `"rpc":{"data":`...), reply)
	if err != nil {
		return nil, err
	}
	return append(b, "}}"...), nil
}

// ErrorReply returns the reply to a command that has failed.
func ErrorReply(e Encoding, id uint32, err Error) []byte {
	if e == Protobuf {
		return must((&protocol.Reply{Id: id, Error: &protocol.Error{
			Code: uint32(err.Code), Message: err.Message, Temporary: err.Temporary,
		}}).MarshalVT())
	}
	b := strconv.AppendUint(append(appendReply(id), `"error":{"code":`...), uint64(err.Code), 10)
	b = appendString(append(b, `,"message":`...), err.Message)
	if err.Temporary {
		b = append(b, `,"temporary":true`...)
	}
	return append(b, "}}"...)
}

// ConnectReply returns the reply to a connect command. It fails if data in the result is not JSON.
func ConnectReply(e Encoding, id uint32, r *protocol.ConnectResult) ([]byte, error) {
	return encodeReply(e, &protocol.Reply{Id: id, Connect: r})
}

// RefreshReply returns the reply to a refresh command.
func RefreshReply(e Encoding, id uint32, r *protocol.RefreshResult) []byte {
	return must(encodeReply(e, &protocol.Reply{Id: id, Refresh: r}))
}

// PublicationPush returns the push of an entry to a room's members. entry must be the result of EntryJSON.
func PublicationPush(e Encoding, channel string, seq int64, entry []byte) []byte {
	if e == Protobuf {
		p := after(len(channel), entry)
		p.prefix(pubData)
		p.b = binary.AppendUvarint(append(p.b, pubOffset<<3), uint64(seq))
		p.prefix(pushPub)
		p.text(pushChannel, channel)
		p.prefix(replyPush)
		return p.message()
	}
	entry = oneLine(entry)
	b := appendPush(make([]byte, 0, 80+len(channel)+len(entry)), channel)
	b = append(append(b, `"pub":{"data":`...), entry...)
	b = strconv.AppendInt(append(b, `,"offset":`...), seq, 10)
	return append(b, "}}}"...)
}

// MessagePush returns a push without a seq. data is the JSON of a Message.
func MessagePush(e Encoding, data []byte) []byte {
	if e == Protobuf {
		p := after(0, data)
		p.prefix(messageData)
		p.prefix(pushMessage)
		p.prefix(replyPush)
		return p.message()
	}
	data = oneLine(data)
	b := append(make([]byte, 0, 32+len(data)), `{"push":{"message":{"data":`...)
	return append(append(b, data...), "}}}"...)
}

// SubscribePush returns the push which tells a client that it is in a room and receives its entries after position.
func SubscribePush(e Encoding, channel, epoch string, position int64, data Joined) []byte {
	return must(encodeReply(e, &protocol.Reply{Push: &protocol.Push{Channel: channel, Subscribe: &protocol.Subscribe{
		Recoverable: true, Positioned: true, Epoch: epoch, Offset: uint64(position), Data: must(Marshal(data)),
	}}}))
}

// UnsubscribePush returns the push which tells a client that it is not in a room any more.
func UnsubscribePush(e Encoding, channel, reason string) []byte {
	return must(encodeReply(e, &protocol.Reply{Push: &protocol.Push{Channel: channel, Unsubscribe: &protocol.Unsubscribe{
		Code: UnsubscribeCode, Reason: reason,
	}}}))
}

// Marshal returns the JSON of a value, on one line and without the escapes that only HTML needs. It fails only if an
// entry's body is not JSON.
func Marshal(v any) ([]byte, error) { return appendJSON(nil, v) }

func encodeReply(e Encoding, r *protocol.Reply) ([]byte, error) {
	if e == Protobuf {
		return r.MarshalVT()
	}
	return Marshal(r)
}

// must returns b and panics on an error. It is for messages whose encoding cannot fail.
func must(b []byte, err error) []byte {
	if err != nil {
		panic("wire: " + err.Error())
	}
	return b
}

// appendReply returns the beginning of a reply in JSON.
func appendReply(id uint32) []byte {
	b := append(make([]byte, 0, shortMessage), `{"id":`...)
	return append(strconv.AppendUint(b, uint64(id), 10), ',')
}

// appendPush appends the beginning of a push on a channel, in JSON.
func appendPush(b []byte, channel string) []byte {
	return append(appendString(append(b, `{"push":{"channel":`...), channel), ',')
}
