package proof

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
)

// Root returns the Merkle tree hash of RFC 6962 over the sorted leaves. The leaves may be given in any order: Root sorts a copy. The
// root of no leaves is the SHA-256 of nothing.
func Root(leaves []Hash) Hash {
	if len(leaves) == 0 {
		return sha256.Sum256(nil)
	}
	level := bottom(leaves)
	for len(level) > 1 {
		level = above(level)
	}
	return level[0]
}

// Inclusion returns the path from the leaf with this index among the sorted leaves to their Root, the lowest node first. It panics if
// there is no such leaf.
func Inclusion(leaves []Hash, index int) []Hash {
	if index < 0 || index >= len(leaves) {
		panic(fmt.Sprintf("leaf %d of %d", index, len(leaves)))
	}
	path := []Hash{}
	for level := bottom(leaves); len(level) > 1; level = above(level) {
		if beside := index ^ 1; beside < len(level) { // else the node has no other beside it, and goes up as it is
			path = append(path, level[beside])
		}
		index /= 2
	}
	return path
}

// Included reports whether the path leads from the leaf with this index among n sorted leaves to the root, as RFC 9162 (2.1.3.2)
// verifies it.
func Included(leaf Hash, index, n int, path []Hash, root Hash) bool {
	if index < 0 || index >= n {
		return false
	}
	at, last, node := index, n-1, bottomNode(leaf)
	for _, beside := range path {
		if last == 0 {
			return false // the path is too long
		}
		if at%2 == 1 || at == last {
			node = inner(beside, node)
			for at%2 == 0 && at != 0 {
				at, last = at/2, last/2
			}
		} else {
			node = inner(node, beside)
		}
		at, last = at/2, last/2
	}
	return last == 0 && node == root
}

// bottom returns the lowest nodes of the tree.
func bottom(leaves []Hash) []Hash {
	level := slices.Clone(leaves)
	if !slices.IsSortedFunc(level, compareHashes) {
		slices.SortFunc(level, compareHashes)
	}
	for i, leaf := range level {
		level[i] = bottomNode(leaf)
	}
	return level
}

// above replaces a level of the tree by the level above it. A node without another beside it goes up as it is. That is the tree of RFC
// 6962, which splits n leaves at the largest power of two below n.
func above(level []Hash) []Hash {
	up := level[:0]
	for i := 0; i < len(level); i += 2 {
		if i+1 < len(level) {
			up = append(up, inner(level[i], level[i+1]))
		} else {
			up = append(up, level[i])
		}
	}
	return up
}

func compareHashes(a, b Hash) int { return bytes.Compare(a[:], b[:]) }

// bottomNode and inner begin with different bytes, so that no inner node can be shown as a leaf.
func bottomNode(leaf Hash) Hash {
	var text [1 + sha256.Size]byte
	copy(text[1:], leaf[:])
	return sha256.Sum256(text[:])
}

func inner(left, right Hash) Hash {
	var text [1 + 2*sha256.Size]byte
	text[0] = 1
	copy(text[1:], left[:])
	copy(text[1+sha256.Size:], right[:])
	return sha256.Sum256(text[:])
}
