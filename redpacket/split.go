package redpacket

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strconv"

	"hongbao/chat"
)

// Seed is the secret from which a packet's shares are derived. It is drawn before the server knows the packet, is used
// once, and is revealed when the packet has ended. Until then it must not appear in a log, event or metric.
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

// Cut divides the packet's total into its shares, in the order in which they are claimed, as web/docs/protocol/proof.md
// defines it byte by byte: every verifier in every language must get the same result. Of the packet it uses the sender's
// id, Key, Mode, Spread, Total and Count.
func Cut(seed Seed, p Packet) ([]Money, error) {
	if p.Count < 1 || p.Total < Money(p.Count) {
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

func cutEqual(w *words, total Money, count int) []Money {
	shares := make([]Money, count)
	each, more := total/Money(count), total%Money(count)
	for i := range shares {
		shares[i] = each
		if Money(i) < more {
			shares[i]++
		}
	}
	w.shuffle(shares)
	return shares
}

// cutDraws draws each share from a range around the mean of what is left. Every draw leaves at least 1 for each share
// that follows. Then it shuffles the shares, so that no place in the order of claims is better than another.
func cutDraws(w *words, total Money, count int, spread Spread) []Money {
	shares := make([]Money, 0, count)
	left := total
	for k := Money(count); k >= 2; k-- {
		lo, hi := Money(1), max(1, 2*left/k-1)
		if spread == Calm {
			lo, hi = max(1, left/(2*k)), max(1, 3*left/(2*k))
		}
		hi = min(hi, left-k+1)
		lo = min(lo, hi)
		share := lo + Money(w.below(uint64(hi-lo+1)))
		shares = append(shares, share)
		left -= share
	}
	shares = append(shares, left)
	w.shuffle(shares)
	return shares
}

// cutAtPoints draws distinct random points and cuts the total there. The pieces need no shuffle: all orders are
// equally likely.
func cutAtPoints(w *words, total Money, count int) []Money {
	seen := make(map[Money]struct{}, count)
	cuts := make([]Money, 0, count)
	for len(cuts) < count-1 {
		c := 1 + Money(w.below(uint64(total-1)))
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

// words is the stream of random 64-bit words of one packet: block n is HMAC-SHA256(seed, prefix + n).
type words struct {
	mac    hash.Hash
	prefix []byte
	block  uint64
	buf    []byte // the words of the current block that were not used yet
	sum    [sha256.Size]byte
}

func newWords(seed Seed, p Packet) *words {
	prefix := fmt.Appendf(nil, "hongbao/1\n%s\n%s\n%s\n%s\n%d\n%d\n", p.From.ID, p.Key, p.Mode, p.Spread, p.Total, p.Count)
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

// below returns a random number in [0, n) without bias. It skips the words at the top of the range that do not fill
// another multiple of n.
func (w *words) below(n uint64) uint64 {
	tail := (^uint64(0)%n + 1) % n // 2^64 mod n
	for {
		v := w.next()
		if tail == 0 || v < -tail { // v < 2^64 - tail
			return v % n
		}
	}
}

func (w *words) shuffle(shares []Money) {
	for i := len(shares) - 1; i >= 1; i-- {
		j := w.below(uint64(i + 1))
		shares[i], shares[j] = shares[j], shares[i]
	}
}

// Seal completes the packet with the sender's seed, inside the ledger's transaction. It returns the packet with its
// commitment, its shares, and the body of the entry that announces it.
func (u UnsealedPacket) Seal(seed Seed) (p Packet, shares []Money, body json.RawMessage, err error) {
	p = u.Packet
	p.Commitment = Commitment(seed)
	if shares, err = Cut(seed, p); err != nil {
		return Packet{}, nil, nil, err
	}
	body, err = chat.Body(packetBody{
		ID: p.ID, Room: p.Room, From: p.From, Mode: p.Mode, Spread: p.Spread, Total: p.Total, Count: p.Count,
		Greeting: p.Greeting, To: p.To, Locked: p.Passphrase != "",
		CreatedAt: p.CreatedAt.UnixMilli(), ExpiresAt: p.ExpiresAt.UnixMilli(), Commitment: p.Commitment, Key: p.Key,
		EarlierMembers: p.EarlierMembers, Skin: p.Skin,
	})
	return p, shares, body, err
}

// packetBody is the Packet of web/docs/protocol/objects.md.
type packetBody struct {
	ID         string    `json:"id"`
	Room       string    `json:"room"`
	From       chat.User `json:"from"`
	Mode       Mode      `json:"mode"`
	Spread     Spread    `json:"spread"`
	Total      Money     `json:"total"`
	Count      int       `json:"count"`
	Greeting   string    `json:"greeting"`
	To         []string  `json:"to,omitempty"`
	Locked     bool      `json:"locked"`
	CreatedAt  int64     `json:"created_at"`
	ExpiresAt  int64     `json:"expires_at"`
	Commitment string    `json:"commitment"`
	Key        string    `json:"key"`

	EarlierMembers bool `json:"earlier_members,omitempty"`
	Skin           Skin `json:"skin,omitempty"`
}

type stateBody struct {
	Packet   string        `json:"packet"`
	Status   Status        `json:"status"`
	Claimed  int           `json:"claimed"`
	Luckiest *luckiestBody `json:"luckiest,omitempty"`
	Refunded Money         `json:"refunded,omitempty"`
}

type luckiestBody struct {
	User   string `json:"user"`
	Amount Money  `json:"amount"`
	Rank   int    `json:"rank"`
}

type doneBody struct {
	Packet string    `json:"packet"`
	Reason Status    `json:"reason"`
	State  stateBody `json:"state"`
	Seed   string    `json:"seed"`
}

// DoneBody returns the body of the entry that ends a packet. The body reveals the seed, so the packet must be closed.
func DoneBody(b Book) (json.RawMessage, error) {
	body := doneBody{
		Packet: b.Packet.ID, Reason: b.Status, Seed: hex.EncodeToString(b.Seed[:]),
		State: stateBody{Packet: b.Packet.ID, Status: b.Status, Claimed: len(b.Claims), Refunded: b.Refunded},
	}
	if l := Luckiest(b.Packet, b.Claims); l != nil {
		body.State.Luckiest = &luckiestBody{User: l.User.ID, Amount: l.Amount, Rank: l.Rank()}
	}
	return chat.Body(body)
}

// Luckiest returns the claim with the largest amount; of equal ones, that with the lowest rank. It returns nil unless
// the packet is lucky and has two or more shares. The result is final only when the packet has ended.
func Luckiest(p Packet, claims []Paid) *Paid {
	if p.Mode != Lucky || p.Count < 2 {
		return nil
	}
	var best *Paid
	for i := range claims {
		c := &claims[i]
		if best == nil || c.Amount > best.Amount || c.Amount == best.Amount && c.Share < best.Share {
			best = c
		}
	}
	return best
}

// StateOf returns the packet's state as the user may see it.
func (b Book) StateOf(user string) State {
	s := State{Packet: b.Packet.ID, Status: b.Status, Claimed: len(b.Claims), Refunded: b.Refunded}
	for i := range b.Claims {
		if b.Claims[i].User.ID == user {
			s.Mine = &b.Claims[i]
		}
	}
	if b.Status != Open {
		s.Luckiest = Luckiest(b.Packet, b.Claims)
	}
	return s
}
