package wire

import "encoding/binary"

// The fields of the Protobuf envelope that replies and pushes use; see client.proto of the protocol's module.
const (
	replyID, replyPush, replyRPC             = 1, 4, 13
	pushChannel, pushPub, pushMessage        = 2, 4, 8
	pubData, pubOffset, rpcData, messageData = 4, 6, 1, 1
)

// prefixRoom is the space reserved before the data of a reply or push, for everything but a channel's name.
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

// after begins a message with its data, and reserves space for the name of a channel of room bytes.
func after(room int, data []byte) *prefixed {
	room += prefixRoom
	return &prefixed{b: append(make([]byte, room, room+len(data)+prefixRoom), data...), at: room}
}
