package chat

import (
	"crypto/sha256"
	"encoding/binary"
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
