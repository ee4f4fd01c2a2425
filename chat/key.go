package chat

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

const keyChars = 64

// CheckKey returns an error unless the client's key has a valid form: 1 to 64 characters from '!' to '~'.
func CheckKey(key string) error {
	if key == "" || len(key) > keyChars {
		return BadField("key", "must have 1 to 64 characters")
	}
	for i := range len(key) {
		if key[i] < '!' || key[i] > '~' {
			return BadField("key", "must have only characters from ! to ~")
		}
	}
	return nil
}

// RequestHash returns the hash of a request's content, by which a repeated key is compared with its first use. It
// covers the method and its decoded fields after defaults, in an order that never changes. The length of each goes
// before it, so that no two requests hash the same bytes.
func RequestHash(method string, fields ...string) []byte {
	text := binary.AppendUvarint(nil, uint64(len(method)))
	text = append(text, method...)
	for _, f := range fields {
		text = binary.AppendUvarint(text, uint64(len(f)))
		text = append(text, f...)
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// NewID returns a UUIDv7. Its ids sort by creation time, so new rows are added at the end of an index.
func NewID(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand stops the process instead
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}
