package redisstore

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"hongbao/hub"
)

// A message on the bus begins with a header: the publisher's id, the message's number and its tag. The payload follows.
//
// On one shard, the numbers of a publisher only grow. A message is sent again if the outcome of the first time is
// unknown. Its number shows receivers that it is a repeat, even if bytes of a lost connection arrive after those of
// the next one. A number is also a time, so that receivers can drop old messages of a publisher that they do not know.
//
// The tag is the HMAC-SHA-256, cut to 128 bits, of the channel and of everything else in the message. Its key lies in
// SQL, so a client of Redis can neither forge a message nor move one to another channel.
const (
	tagAt     = 16 // the id and the number come before the tag
	tagLen    = 16
	headerLen = tagAt + tagLen
)

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

// setNumber writes the header's id and number. Number 0 means that the message has no number yet.
func (m busMessage) setNumber(id, number uint64) {
	binary.BigEndian.PutUint64(m.bytes, id)
	binary.BigEndian.PutUint64(m.bytes[8:], number)
}

func (m busMessage) number() uint64 { return binary.BigEndian.Uint64(m.bytes[8:]) }

// A tagger computes and checks tags. It is not safe for concurrent use.
type tagger struct {
	mac   hash.Hash
	start []byte // reused by sum
}

func newTagger(key []byte) *tagger { return &tagger{mac: hmac.New(sha256.New, key)} }

// sum returns the tag that belongs into the message on this channel. The message has a whole header.
func (t *tagger) sum(channel string, message []byte) []byte {
	t.start = binary.AppendUvarint(t.start[:0], uint64(len(channel)))
	t.start = append(t.start, channel...)
	t.start = append(t.start, message[:tagAt]...)
	t.mac.Reset()
	t.mac.Write(t.start)
	t.mac.Write(message[headerLen:])
	t.start = t.mac.Sum(t.start[:0])
	return t.start[:tagLen]
}

// write puts the tag into the header of a message that has its number.
func (t *tagger) write(channel string, m busMessage) { copy(m.bytes[tagAt:], t.sum(channel, m.bytes)) }

// open splits a received message. It reports false if the message has no valid tag for the channel.
func (t *tagger) open(channel string, message []byte) (id, number uint64, payload []byte, ok bool) {
	if len(message) < headerLen || !hmac.Equal(t.sum(channel, message), message[tagAt:headerLen]) {
		return 0, 0, nil, false
	}
	return binary.BigEndian.Uint64(message), binary.BigEndian.Uint64(message[8:]), message[headerLen:], true
}
