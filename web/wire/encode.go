package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"

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

const roomPrefix = "room:"

// RoomChannel returns the channel of a room.
func RoomChannel(room string) string { return roomPrefix + room }

// ChannelRoom returns the room of a channel. ok is false if the channel is not that of a room.
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
	b = scan.AppendString(append(b, `,"message":`...), err.Message)
	if err.Temporary {
		b = append(b, `,"temporary":true`...)
	}
	if err.Reason != "" {
		b = scan.AppendString(append(b, `,"reason":`...), err.Reason)
	}
	if err.Data != nil {
		b = append(append(b, `,"data":`...), scan.OneLine(err.Data)...)
	}
	return append(b, "}}"...)
}

// ConnectReply returns the reply to a connect command. In JSON it fails if data in the result is not JSON.
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
	entry = scan.OneLine(entry)
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
	data = scan.OneLine(data)
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

// Marshal returns the JSON of a value, on one line and without the escapes that only HTML needs. For a type of this package it
// fails only if raw JSON in it, such as an entry's body, is not JSON.
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
	return append(scan.AppendString(append(b, `{"push":{"channel":`...), channel), ',')
}

// appender is a value that encodes itself as JSON. Grabs need this: it takes an eighth of the time of encoding/json and
// allocates nothing. The result equals that of json.Marshal, except for escapes that JSON does not require.
type appender interface{ appendJSON(b []byte) []byte }

// shortMessage is the initial buffer size for a reply, and for the data of a push that an appender writes.
const shortMessage = 256

// appendJSON appends to b what Marshal returns for v.
func appendJSON(b []byte, v any) ([]byte, error) {
	if a, ok := v.(appender); ok {
		return a.appendJSON(b), nil
	}
	buffer := bytes.NewBuffer(b)
	enc := json.NewEncoder(buffer)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// MessageJSON returns the data of a wallet push.
func (p WalletPush) MessageJSON() []byte {
	return append(p.appendJSON(append(make([]byte, 0, shortMessage), `{"wallet":`...)), '}')
}

// MessageJSON returns the data of a packet_progress push.
func (p ProgressPush) MessageJSON() []byte {
	return append(p.appendJSON(append(make([]byte, 0, shortMessage), `{"packet_progress":`...)), '}')
}

func (p WalletPush) appendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"balance":`...), p.Balance, 10)
	b = strconv.AppendInt(append(b, `,"account_version":`...), p.AccountVersion, 10)
	b = strconv.AppendInt(append(b, `,"change":`...), p.Change, 10)
	b = scan.AppendString(append(b, `,"kind":`...), p.Kind)
	if p.Packet != "" {
		b = scan.AppendString(append(b, `,"packet":`...), p.Packet)
	}
	return append(scan.AppendString(append(b, `,"next_commitment":`...), p.NextCommitment), '}')
}

func (p ProgressPush) appendJSON(b []byte) []byte {
	b = scan.AppendString(append(b, `{"packet":`...), p.Packet)
	b = scan.AppendString(append(b, `,"room":`...), p.Room)
	b = strconv.AppendInt(append(b, `,"claimed":`...), int64(p.Claimed), 10)
	b = strconv.AppendInt(append(b, `,"count":`...), int64(p.Count), 10)
	b = append(b, `,"latest":`...)
	b = append(b, '[')
	for i, user := range p.Latest {
		if i > 0 {
			b = append(b, ',')
		}
		b = scan.AppendString(b, user)
	}
	return append(appendNumber(append(b, ']'), `,"participants":`, int64(p.Participants)), '}')
}

func (r GrabReply) appendJSON(b []byte) []byte {
	b = scan.AppendString(append(b, `{"packet":`...), r.Packet)
	b = scan.AppendString(append(b, `,"outcome":`...), r.Outcome)
	b = appendNumber(b, `,"amount":`, r.Amount)
	b = appendNumber(b, `,"rank":`, int64(r.Rank))
	b = appendNumber(b, `,"at":`, r.At)
	if r.Balance != nil {
		b = strconv.AppendInt(append(b, `,"balance":`...), *r.Balance, 10)
	}
	b = appendNumber(b, `,"account_version":`, r.AccountVersion)
	b = strconv.AppendInt(append(b, `,"claimed":`...), int64(r.Claimed), 10)
	b = strconv.AppendInt(append(b, `,"count":`...), int64(r.Count), 10)
	b = appendNumber(b, `,"waiting":`, int64(r.Waiting))
	b = appendNumber(b, `,"participants":`, int64(r.Participants))
	b = appendNumber(b, `,"wave":`, int64(r.Wave))
	if r.Receipt != nil {
		b = r.Receipt.appendJSON(append(b, `,"receipt":`...))
	}
	if r.User != "" {
		b = scan.AppendString(append(b, `,"user":`...), r.User)
	}
	return append(b, '}')
}

func (r *Receipt) appendJSON(b []byte) []byte {
	b = scan.AppendString(append(b, `{"packet":`...), r.Packet)
	b = appendNumber(b, `,"wave":`, int64(r.Wave))
	b = scan.AppendString(append(b, `,"user":`...), r.User)
	b = scan.AppendString(append(b, `,"leaf":`...), r.Leaf)
	b = strconv.AppendInt(append(b, `,"at":`...), r.At, 10)
	b = scan.AppendString(append(b, `,"key":`...), r.Key)
	return append(scan.AppendString(append(b, `,"signature":`...), r.Signature), '}')
}

// appendNumber appends a field with a number, or nothing if the number is 0. name is all of the JSON before the number.
func appendNumber(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), n, 10)
}

// The fields of the Protobuf envelope that replies and pushes use; see client.proto of the protocol's module.
const (
	replyID, replyPush, replyRPC             = 1, 4, 13
	pushChannel, pushPub, pushMessage        = 2, 4, 8
	pubData, pubOffset, rpcData, messageData = 4, 6, 1, 1
)

// prefixRoom is the number of bytes reserved before the data of a reply or push, for everything but a channel's name.
const prefixRoom = 32

// prefixed is a Protobuf message that is written backwards, beginning with its data. A field's length is thus known
// when it is written, and the data is never moved. The protocol module's encoder would make four allocations per
// message.
type prefixed struct {
	b  []byte
	at int // index of the message's first byte in b
}

// prefix writes the tag and length of a field whose value is the message so far.
func (p *prefixed) prefix(field byte) {
	p.before(uint64(len(p.b)-p.at), field<<3|2)
}

// text writes a field whose value is a string.
func (p *prefixed) text(field byte, value string) {
	p.at -= len(value)
	copy(p.b[p.at:], value)
	p.before(uint64(len(value)), field<<3|2)
}

// before writes a tag, followed by a number, in front of the message so far.
func (p *prefixed) before(n uint64, tag byte) {
	var number [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(number[:], n)
	p.at -= size
	copy(p.b[p.at:], number[:size])
	p.at--
	p.b[p.at] = tag
}

func (p *prefixed) message() []byte { return p.b[p.at:] }

// after begins a message with its data. In front of the data it reserves prefixRoom bytes, and as many more as room says, for a
// channel's name.
func after(room int, data []byte) *prefixed {
	room += prefixRoom
	return &prefixed{b: append(make([]byte, room, room+len(data)+prefixRoom), data...), at: room}
}

// EntryJSON encodes an entry for a push. The result equals that of json.Marshal, except for escapes that JSON does not require and
// for spaces between the parts of the body. It is written by hand, with one allocation, because every entry that is pushed is
// encoded here.
func EntryJSON(e Entry) []byte {
	body := scan.OneLine(e.Body)
	b := make([]byte, 0, 128+len(e.ID)+len(e.From.ID)+len(e.From.Name)+len(e.From.Avatar)+len(e.Key)+len(body))
	b = strconv.AppendInt(append(b, `{"seq":`...), e.Seq, 10)
	b = scan.AppendString(append(b, `,"id":`...), e.ID)
	b = strconv.AppendInt(append(b, `,"at":`...), e.At, 10)
	b = scan.AppendString(append(b, `,"from":{"id":`...), e.From.ID)
	b = scan.AppendString(append(b, `,"name":`...), e.From.Name)
	if e.From.Avatar != "" {
		b = scan.AppendString(append(b, `,"avatar":`...), e.From.Avatar)
	}
	if e.From.Guest {
		b = append(b, `,"guest":true`...)
	}
	b = scan.AppendString(append(b, `},"kind":`...), e.Kind)
	if e.Key != "" {
		b = scan.AppendString(append(b, `,"key":`...), e.Key)
	}
	return append(append(append(b, `,"body":`...), body...), '}')
}
