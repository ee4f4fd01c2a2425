package wire

import "encoding/binary"

// The fields of the Protobuf envelope that replies and pushes have; see client.proto of the protocol's module.
const (
	replyID, replyPush, replyRPC             = 1, 4, 13
	pushChannel, pushPub, pushMessage        = 2, 4, 8
	pubData, pubOffset, rpcData, messageData = 4, 6, 1, 1
)

// prefixRoom is room for what stands before the data of a reply or a push, but for a channel's name.
const prefixRoom = 32

// prefixed is a Protobuf message that is written around its data without moving it: what has a length before it can be
// written when all that follows is there. The module's own encoder makes four pieces of garbage for each message.
type prefixed struct {
	b  []byte
	at int // where the message begins
}

// prefix writes what comes before a field whose value is all from at on.
func (p *prefixed) prefix(field byte) {
	p.before(uint64(len(p.b)-p.at), field<<3|2)
}

// text writes a whole field.
func (p *prefixed) text(field byte, value string) {
	p.at -= len(value)
	copy(p.b[p.at:], value)
	p.before(uint64(len(value)), field<<3|2)
}

// before writes a number and the tag that says what it is.
func (p *prefixed) before(n uint64, tag byte) {
	var number [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(number[:], n)
	p.at -= size
	copy(p.b[p.at:], number[:size])
	p.at--
	p.b[p.at] = tag
}

func (p *prefixed) message() []byte { return p.b[p.at:] }

// after begins a message with its data, behind room for a channel's name, too.
func after(room int, data []byte) *prefixed {
	room += prefixRoom
	return &prefixed{b: append(make([]byte, room, room+len(data)+prefixRoom), data...), at: room}
}
