package chain

import "crypto/rand"

// SaltSize is the length of a seal whose text is still there: 16 random bytes. The seal of an erased text is the Hash that
// stands for the text.
const SaltSize = 16

// newSalt returns the seal of a new text.
func newSalt() []byte {
	salt := make([]byte, SaltSize)
	_, _ = rand.Read(salt) // never fails
	return salt
}

// Sealed returns the hash that stands for the texts in a leaf. seal is the column of the row: a salt, or the hash itself
// if the texts were erased.
func Sealed(seal []byte, texts ...string) Hash {
	if Erased(seal) {
		return Hash(seal)
	}
	b := encoding(sealKind)
	b.texts(string(seal))
	b.texts(texts...)
	return b.sum()
}

// Erased reports whether the seal is that of an erased text.
func Erased(seal []byte) bool { return len(seal) == len(Hash{}) }

const sealKind = "hongbao/seal/1"
