package chain

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// chainBits is how many of the lower bits of a link's id are the number of its chain. The upper bits are its time in Unix
// milliseconds, or later if the chain had a link in the same millisecond. So ids rise with time, over all chains, too.
const chainBits = 20

// MaxChain is the highest number of a chain.
const MaxChain = 1<<chainBits - 1

// LinkID returns the id of the next link of a chain, after the link with the id last.
func LinkID(chain, last, nowMillis int64) int64 {
	return max(nowMillis<<chainBits|chain, last+1<<chainBits)
}

// Link is one link of a chain: the rows that one transaction has added.
type Link struct {
	ID     int64
	Prev   int64 // id of the link before; 0 in the first of a chain
	At     int64
	Leaves int64 // number of rows
	Digest Hash  // of the leaves
}

// Chain returns the number of the link's chain.
func (l Link) Chain() int64 { return l.ID & MaxChain }

// Digest returns the hash of a link's leaves. They are sorted, so their order does not matter.
func Digest(leaves []Hash) Hash {
	sorted := slices.SortedFunc(slices.Values(leaves), func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	for _, leaf := range sorted {
		h.Write(leaf[:])
	}
	return Hash(h.Sum(nil))
}

// Hash returns the hash of the link. prev is the hash of the link before, or zeros in the first link of a chain.
func (l Link) Hash(prev Hash) Hash {
	b := encoder(Prefix())
	b.hashes(prev)
	b = append(b, l.Suffix()...)
	return b.sum()
}

// Prefix and Suffix are the parts of a link's encoding before and after the hash of the link before it. With them SQL
// computes the hash of a link from what the database has.
func Prefix() []byte { return encoding("hongbao/link/1") }

// Suffix is described at Prefix.
func (l Link) Suffix() []byte {
	var b encoder
	b.numbers(l.ID, l.Prev, l.At, l.Leaves)
	b.hashes(l.Digest)
	return b
}
