// Package proof computes the shares of a packet from its seed, and the winners of a draw: proof.go has the shares, draw.go the
// order of a draw, merkle.go the root that fixes the participants, receipt.go what a participant gets,
// document.go checks all of it. web/docs/protocol/proof.md defines the computation byte by byte.
// The server cuts and draws packets with this package, and programs of other teams verify packets with it. So it imports neither the
// server nor the wire. It must always hold: every version, and every verifier in another language, gets the same shares from
// the same seed and Terms, and the same winners from the same participants.
package proof

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
)

// The modes and spreads of a packet. Equal packets have no spread.
const (
	Lucky = "lucky"
	Equal = "equal"

	Calm    = "calm"
	Classic = "classic"
	Wild    = "wild"
)

// Terms are the fields of a packet on which its shares depend. Total is in minor units.
type Terms struct {
	Sender string // id of the user
	Key    string // of the request to send the packet; drawn by the sender
	Mode   string
	Spread string
	Total  int64
	Count  int
}

// Seed is the secret from which a packet's shares are derived. The server draws it before it knows the packet, uses it
// once, and reveals it when the packet has ended. Until then it must not appear in a log, event or metric.
type Seed [32]byte

// NewSeed draws a seed.
func NewSeed() Seed {
	var s Seed
	_, _ = rand.Read(s[:]) // never fails: crypto/rand stops the process instead
	return s
}

// Commitment returns the hash of a seed, which is published before the seed is used.
func Commitment(s Seed) string {
	sum := sha256.Sum256(s[:])
	return hex.EncodeToString(sum[:])
}

// Shares divides the total into the shares, in the order in which they are claimed. It returns an error if no packet can have
// these terms.
func Shares(seed Seed, p Terms) ([]int64, error) {
	if p.Count < 1 || p.Total < int64(p.Count) {
		return nil, fmt.Errorf("cannot cut %d into %d shares of at least 1", p.Total, p.Count)
	}
	w := newWords(seed, p)
	switch {
	case p.Mode == Equal && p.Spread == "":
		return cutEqual(w, p.Total, p.Count), nil
	case p.Mode == Lucky && (p.Spread == Classic || p.Spread == Calm):
		return cutDraws(w, p.Total, p.Count, p.Spread), nil
	case p.Mode == Lucky && p.Spread == Wild:
		return cutAtPoints(w, p.Total, p.Count), nil
	}
	return nil, fmt.Errorf("unknown mode %q with spread %q", p.Mode, p.Spread)
}

func cutEqual(w *words, total int64, count int) []int64 {
	shares := make([]int64, count)
	each, more := total/int64(count), total%int64(count)
	for i := range shares {
		shares[i] = each
		if int64(i) < more {
			shares[i]++
		}
	}
	w.shuffle(shares)
	return shares
}

// cutDraws draws each share but the last from a range around the mean of what is left. Every draw leaves at least 1 for each
// share that follows. The last share is what remains. Then cutDraws shuffles the shares, so that no place in the order of
// claims is better than another.
func cutDraws(w *words, total int64, count int, spread string) []int64 {
	shares := make([]int64, 0, count)
	left := total
	for k := int64(count); k >= 2; k-- {
		lo, hi := int64(1), max(1, 2*left/k-1)
		if spread == Calm {
			lo, hi = max(1, left/(2*k)), max(1, 3*left/(2*k))
		}
		hi = min(hi, left-k+1)
		lo = min(lo, hi)
		share := lo + int64(w.below(uint64(hi-lo+1)))
		shares = append(shares, share)
		left -= share
	}
	shares = append(shares, left)
	w.shuffle(shares)
	return shares
}

// cutAtPoints draws distinct random points and cuts the total there. The pieces need no shuffle: all orders are
// equally likely.
func cutAtPoints(w *words, total int64, count int) []int64 {
	seen := make(map[int64]struct{}, count)
	cuts := make([]int64, 0, count)
	for len(cuts) < count-1 {
		c := 1 + int64(w.below(uint64(total-1)))
		if _, dup := seen[c]; !dup {
			seen[c] = struct{}{}
			cuts = append(cuts, c)
		}
	}
	slices.Sort(cuts)
	cuts = append(cuts, total)
	for i := len(cuts) - 1; i > 0; i-- {
		cuts[i] -= cuts[i-1]
	}
	return cuts
}

// words is the stream of random 64-bit words of one packet. Block n is HMAC-SHA256(seed, prefix + n), with n in decimal.
type words struct {
	mac    hash.Hash
	prefix []byte
	block  uint64
	buf    []byte // the words of the current block that were not used yet
	sum    [sha256.Size]byte
}

func newWords(seed Seed, p Terms) *words {
	prefix := fmt.Appendf(nil, "hongbao/1\n%s\n%s\n%s\n%s\n%d\n%d\n", p.Sender, p.Key, p.Mode, p.Spread, p.Total, p.Count)
	return &words{mac: hmac.New(sha256.New, seed[:]), prefix: prefix}
}

func (w *words) next() uint64 {
	if len(w.buf) == 0 {
		w.mac.Reset()
		w.mac.Write(w.prefix)
		w.mac.Write(strconv.AppendUint(nil, w.block, 10))
		w.buf = w.mac.Sum(w.sum[:0])
		w.block++
	}
	v := binary.BigEndian.Uint64(w.buf)
	w.buf = w.buf[8:]
	return v
}

// below returns a random number in [0, n) without bias. It skips the highest words: from the largest multiple of n up to
// 2^64.
func (w *words) below(n uint64) uint64 {
	tail := (^uint64(0)%n + 1) % n // 2^64 mod n
	for {
		v := w.next()
		if tail == 0 || v < -tail { // v < 2^64 - tail
			return v % n
		}
	}
}

func (w *words) shuffle(shares []int64) {
	for i := len(shares) - 1; i >= 1; i-- {
		j := w.below(uint64(i + 1))
		shares[i], shares[j] = shares[j], shares[i]
	}
}
