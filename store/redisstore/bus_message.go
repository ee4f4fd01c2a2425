package redisstore

import (
	"encoding/binary"

	"hongbao/hub"
)

// headerLen is the length in bytes of the header before each payload: the publisher's id and the message's number. On
// one shard, the numbers of a publisher only grow. A message is sent again if the outcome of the first time is
// unknown. Its number shows receivers that it is a repeat, even if bytes of a lost connection arrive after those of
// the next one.
const headerLen = 16

// busMessage is a payload with its header, on its way to Redis.
type busMessage struct {
	topic string
	rank  hub.Rank
	bytes []byte // header and payload
}

func newBusMessage(topic string, payload []byte, rank hub.Rank) busMessage {
	bytes := make([]byte, headerLen, headerLen+len(payload))
	return busMessage{topic: topic, rank: rank, bytes: append(bytes, payload...)}
}

// setHeader writes the header. Number 0 means that the message has no number yet.
func (m busMessage) setHeader(id, number uint64) {
	binary.BigEndian.PutUint64(m.bytes, id)
	binary.BigEndian.PutUint64(m.bytes[8:], number)
}

func (m busMessage) number() uint64 { return binary.BigEndian.Uint64(m.bytes[8:]) }

// parseHeader decodes the header of a received message.
func parseHeader(s string) (id, number uint64, ok bool) {
	if len(s) < headerLen {
		return 0, 0, false
	}
	var header [headerLen]byte
	copy(header[:], s)
	return binary.BigEndian.Uint64(header[:]), binary.BigEndian.Uint64(header[8:]), true
}
