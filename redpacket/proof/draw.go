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
	entryLabel   = "hongbao/entry/2"
	windowLabel  = "hongbao/window/2"
	receiptLabel = "hongbao/receipt/2"
	holdLabel    = "hongbao/hold/1"
)

// Leaf returns what the root covers of one participant of a draw. The packet is named by its sender and key: its id is made by the
// server when it knows the seed. The wave is that of a rain, from 1; 0: the packet is no rain.
func Leaf(sender, key string, wave uint32, user string) Hash {
	return sha256.Sum256(fields([]byte(entryLabel), []byte(sender), []byte(key), number(wave), []byte(user)))
}

// Order returns the places of the leaves in the order of the draw: the first one wins the first share. Leaves may be given in any order.
//
// Each leaf has a ticket, which is an HMAC of the leaf. The lowest ticket is first. A ticket depends on the seed, the packet and the user,
// and on nothing else. So nobody can change a ticket by what they add to the draw, or by the moment at which they enter: a server that
// knows the seed could otherwise try out entries of a friend until the friend wins.
func Order(seed Seed, sender, key string, wave uint32, leaves []Hash) []int {
	keyed := hmac.New(sha256.New, seed[:])
	keyed.Write(fields([]byte(windowLabel), []byte(sender), []byte(key), number(wave)))
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

// Held returns the shares of a packet that are held for users: of its count shares those with the lowest tickets, the lowest first. A
// ticket depends on the seed, the sender, the key and the share, and on nothing else. So nobody can choose what is held.
func Held(seed Seed, sender, key string, count, held int) []int {
	keyed := hmac.New(sha256.New, seed[:])
	keyed.Write(fields([]byte(holdLabel), []byte(sender), []byte(key)))
	mac := hmac.New(sha256.New, keyed.Sum(nil))
	tickets, shares := make([]Hash, count), make([]int, count)
	for i := range tickets {
		mac.Reset()
		mac.Write(number(uint32(i)))
		mac.Sum(tickets[i][:0])
		shares[i] = i
	}
	slices.SortFunc(shares, func(a, b int) int { return bytes.Compare(tickets[a][:], tickets[b][:]) })
	return shares[:min(held, count)]
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
