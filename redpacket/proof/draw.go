package proof

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Hash is a SHA-256 digest: a leaf, a root, or a node between them.
type Hash = [sha256.Size]byte

// The first field of all that a draw hashes. No hash of one kind can stand for one of another kind.
const (
	entryLabel   = "hongbao/entry/1"
	windowLabel  = "hongbao/window/1"
	rainLabel    = "hongbao/rain/1"
	holdLabel    = "hongbao/hold/1"
	receiptLabel = "hongbao/receipt/1"
)

// Leaf returns what the root covers of one participant of a draw. The wave is 0 unless the packet is a rain. The nonce comes from the
// participant, so that nobody finds the user of a leaf by guessing.
func Leaf(packet string, wave uint32, user string, nonce []byte) Hash {
	return sha256.Sum256(fields([]byte(entryLabel), []byte(packet), number(wave), []byte(user), nonce))
}

// Order returns the places of the leaves in the order of the draw: the first one wins the first share. Leaves may be given in any order.
// root is the Root of the same leaves.
//
// Each leaf has a ticket, which is an HMAC of the leaf. The lowest ticket is first. The key of the HMAC depends on the root, so a leaf
// that is added or left out changes all tickets.
func Order(seed Seed, packet string, wave uint32, root Hash, leaves []Hash) []int {
	keyed := hmac.New(sha256.New, seed[:])
	keyed.Write(fields([]byte(windowLabel), []byte(packet), number(wave), root[:]))
	mac := hmac.New(sha256.New, keyed.Sum(nil))
	tickets := make([]Hash, len(leaves))
	places := make([]place, len(leaves))
	for i := range leaves {
		mac.Reset()
		mac.Write(leaves[i][:])
		mac.Sum(tickets[i][:0])
		places[i] = place{binary.BigEndian.Uint64(tickets[i][:]), i}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.ticket != b.ticket { // the first eight bytes nearly always decide, and comparing them is cheap
			return cmp.Compare(a.ticket, b.ticket)
		}
		return cmp.Or(bytes.Compare(tickets[a.leaf][:], tickets[b.leaf][:]), bytes.Compare(leaves[a.leaf][:], leaves[b.leaf][:]))
	})
	order := make([]int, len(places))
	for i := range places {
		order[i] = places[i].leaf
	}
	return order
}

// place is the index of a leaf with the first eight bytes of its ticket.
type place struct {
	ticket uint64
	leaf   int
}

// Winners returns those of the order that win one of count shares.
func Winners(order []int, count int) []int { return order[:max(0, min(count, len(order)))] }

// fields writes each field behind its length, four bytes, big-endian. Without lengths, two different lists of fields could be the
// same bytes.
func fields(all ...[]byte) []byte {
	size := 0
	for _, field := range all {
		size += 4 + len(field)
	}
	out := make([]byte, 0, size)
	for _, field := range all {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(field))), field...)
	}
	return out
}

// number returns a number as a field.
func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
