package chat

import (
	"crypto/sha256"
	"encoding/binary"
)

const keyChars = 64

// CheckKey says whether a client's key has a form that can be kept: 1 to 64 characters from '!' to '~'.
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

// RequestHash is the content that a key stands for: the method and its decoded fields after defaults, in
// an order that never changes. Each comes with its length before it, so that no two requests read the same.
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
