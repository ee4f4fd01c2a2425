package redisstore

import (
	"encoding/binary"

	"hongbao/hub"
)

// parcelHeader is what stands before each payload: the publisher's id and the parcel's number. A publisher's numbers
// grow along a lane, so that what is sent again, because nobody knows whether it had gone out, is recognised, even
// when the lost connection's bytes come after those of the next one.
const parcelHeader = 16

// parcel is a payload on its way out.
type parcel struct {
	topic string
	rank  hub.Rank
	bytes []byte // header and payload
}

func newParcel(topic string, payload []byte, rank hub.Rank) parcel {
	bytes := make([]byte, parcelHeader, parcelHeader+len(payload))
	return parcel{topic: topic, rank: rank, bytes: append(bytes, payload...)}
}

// address puts the header in; number 0: not numbered yet.
func (p parcel) address(id, number uint64) {
	binary.BigEndian.PutUint64(p.bytes, id)
	binary.BigEndian.PutUint64(p.bytes[8:], number)
}

func (p parcel) number() uint64 { return binary.BigEndian.Uint64(p.bytes[8:]) }

// openParcel reads what came.
func openParcel(s string) (id, number uint64, ok bool) {
	if len(s) < parcelHeader {
		return 0, 0, false
	}
	var header [parcelHeader]byte
	copy(header[:], s)
	return binary.BigEndian.Uint64(header[:]), binary.BigEndian.Uint64(header[8:]), true
}
