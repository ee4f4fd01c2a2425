package proof

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Document is the proof of a finished packet as one file, from which anybody can check its shares and winners. All bytes are in hex.
type Document struct {
	Packet     string  `json:"packet"`
	Seed       string  `json:"seed"`
	Commitment string  `json:"commitment"` // what the packet carried before anybody took part
	Sender     string  `json:"sender"`
	Key        string  `json:"key"`
	Mode       string  `json:"mode"`
	Spread     string  `json:"spread,omitempty"`
	Total      int64   `json:"total"`
	Count      int     `json:"count"`            // of shares; of a rain: in each wave
	Rest       string  `json:"rest,omitempty"`   // what becomes of shares that nobody wins: "refund", as without it, or "share"
	Rain       *Rain   `json:"rain,omitempty"`   // only of a rain
	Held       []int   `json:"held,omitempty"`   // ranks that were held for members that were away, in ascending order
	Shares     []int64 `json:"shares,omitempty"` // by rank; they follow from the other fields
	Waves      []Wave  `json:"waves,omitempty"`  // of a draw: one; of a rain: all; none if the first to come got the shares
}

// Rain has the terms of a rain.
type Rain struct {
	Waves      int   `json:"waves"`
	DurationMS int64 `json:"duration_ms"`
	MaxWins    int   `json:"max_wins"` // of one user; 0: any number
}

// Wave is one draw of a packet.
type Wave struct {
	Wave     uint32        `json:"wave"`                // from 1; 0 if the packet is no rain
	OffsetMS int64         `json:"offset_ms,omitempty"` // of a rain: from its begin to the begin of the wave
	Root     string        `json:"root"`
	Entries  int           `json:"entries"`          // number of participants
	Leaves   []string      `json:"leaves,omitempty"` // of all participants, in ascending order
	Winners  []Winner      `json:"winners"`          // in the order of the draw
	Passed   []Participant `json:"passed,omitempty"` // of a rain: had max_wins shares, so the draw passed them over, in its order
}

// Participant is a user with the user's leaf. User is empty if the user was erased.
type Participant struct {
	User string `json:"user,omitempty"`
	Leaf string `json:"leaf"`
}

// Winner is a participant that won a share. Rank counts the packet's shares from 1.
type Winner struct {
	Participant

	Amount int64 `json:"amount"`
	Rank   int   `json:"rank"`
}

// Finding is one thing that Check has looked at.
type Finding struct {
	What  string // commitment, shares, held, offsets, root, winners or unnamed
	Wave  uint32 // of root, winners and unnamed
	Holds bool
	Text  string // what holds, or the first fault
}

// The rules of Rest.
const (
	RestRefund = "refund"
	RestShare  = "share"
)

// maxShares bounds the work for a document from a stranger: a rain of 100 waves, each of 10,000 shares.
const maxShares = 1_000_000

// ReadDocument decodes a document. A field that no document has is an error, because a misspelt field would not be checked.
func ReadDocument(r io.Reader) (d Document, err error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, fmt.Errorf("read proof: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return d, errors.New("read proof: there is more than one document")
	}
	return d, nil
}

// Check recomputes all that follows from the seed and the leaves, and compares it with the document. It returns what it has looked at,
// and an error with the first fault. If the document cannot be checked, there are no findings.
func Check(d Document) ([]Finding, error) {
	c := &checker{d: d}
	if err := c.form(); err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	c.add("commitment", 0, c.commitment(), "it is the SHA-256 of the seed")
	shares, err := c.cut()
	c.add("shares", 0, err, "they follow from the seed")
	if len(d.Held) > 0 {
		c.add("held", 0, c.held(), "the held ranks follow from the seed")
	}
	if d.Rain != nil {
		c.add("offsets", 0, c.offsets(), "the instants of the waves follow from the seed")
	}
	for i := range d.Waves {
		c.wave(&d.Waves[i], shares)
	}
	for _, f := range c.findings {
		if !f.Holds {
			return c.findings, fmt.Errorf("proof: %s: %s", f.name(), f.Text)
		}
	}
	return c.findings, nil
}

// CheckReceipt returns an error unless the receipt is signed by the public key and its leaf is one of the document's. It does not check
// the document.
func CheckReceipt(public ed25519.PublicKey, d Document, r Receipt) error {
	if err := VerifyReceipt(public, r); err != nil {
		return err
	}
	if r.Packet != d.Packet {
		return errors.New("receipt: it is of another packet")
	}
	if leaf := Leaf(d.Sender, d.Key, r.Wave, r.User); !strings.EqualFold(r.Leaf, hex.EncodeToString(leaf[:])) {
		return errors.New("receipt: the leaf is not that of the packet, wave and user")
	}
	for _, w := range d.Waves {
		if w.Wave == r.Wave {
			if slices.ContainsFunc(w.Leaves, func(leaf string) bool { return strings.EqualFold(leaf, r.Leaf) }) {
				return nil
			}
			return errors.New("receipt: the server has signed that this leaf takes part, and has left it out")
		}
	}
	return errors.New("receipt: the proof has no such wave")
}

func (f Finding) name() string {
	if f.Wave == 0 {
		return f.What
	}
	return fmt.Sprintf("%s of wave %d", f.What, f.Wave)
}

// String returns the finding as a line for people.
func (f Finding) String() string {
	if f.Holds {
		return f.name() + ": OK, " + f.Text
	}
	return f.name() + ": WRONG, " + f.Text
}

// checker compares a document with what follows from its seed.
type checker struct {
	d        Document
	seed     Seed
	findings []Finding
	wins     map[string]int // shares of each user in the waves so far
	taken    map[int]bool   // ranks given in the waves so far
}

func (c *checker) add(what string, wave uint32, fault error, holds string) {
	if fault != nil {
		holds = fault.Error()
	}
	c.findings = append(c.findings, Finding{What: what, Wave: wave, Holds: fault == nil, Text: holds})
}

// form returns an error if the document is of no packet that there can be.
func (c *checker) form() error {
	d := &c.d
	seed, err := hashOf(d.Seed)
	if err != nil {
		return fmt.Errorf("the seed %w", err)
	}
	c.seed, c.wins, c.taken = seed, map[string]int{}, map[int]bool{}
	switch {
	case d.Packet == "" || d.Sender == "" || d.Key == "" || d.Commitment == "":
		return errors.New("packet, sender, key and commitment are needed")
	case d.Count < 1 || d.Count > maxShares:
		return fmt.Errorf("count must be 1 to %d", maxShares)
	case d.Rest != "" && d.Rest != RestRefund && d.Rest != RestShare:
		return fmt.Errorf("rest must be %s or %s", RestRefund, RestShare)
	case d.Rest == RestShare && (len(d.Waves) == 0 || d.Rain != nil):
		return errors.New("only a draw with one wave can share its rest")
	case len(d.Held) > 0 && len(d.Waves) > 0:
		return errors.New("a draw has no held ranks")
	case d.Rain == nil && len(d.Waves) > 1, d.Rain == nil && len(d.Waves) == 1 && d.Waves[0].Wave != 0:
		return errors.New("only a rain has several waves or a wave with a number")
	}
	if d.Rain == nil {
		return nil
	}
	if d.Rain.Waves < 1 || d.Rain.Waves > maxShares/d.Count || d.Rain.Waves != len(d.Waves) {
		return fmt.Errorf("the rain of %d waves has %d", d.Rain.Waves, len(d.Waves))
	}
	if d.Rain.DurationMS < 1 || d.Rain.DurationMS > 1<<32-1 {
		return errors.New("duration_ms is out of range")
	}
	for i, w := range d.Waves {
		if w.Wave != uint32(i+1) {
			return fmt.Errorf("wave %d has the number %d", i+1, w.Wave)
		}
	}
	return nil
}

func (c *checker) commitment() error {
	if Commitment(c.seed) != strings.ToLower(c.d.Commitment) {
		return errors.New("it is not the SHA-256 of the seed: the seed was changed afterwards")
	}
	return nil
}

// cut returns the shares by rank.
func (c *checker) cut() ([]int64, error) {
	parts := c.d.Count
	if c.d.Rain != nil {
		parts *= c.d.Rain.Waves
	}
	if c.d.Rest == RestShare {
		parts = max(0, min(parts, c.d.Waves[0].Entries))
	}
	var shares []int64
	if parts > 0 { // without participants nothing is cut
		var err error
		if shares, err = Shares(c.seed, Terms{c.d.Sender, c.d.Key, c.d.Mode, c.d.Spread, c.d.Total, parts}); err != nil {
			return nil, err
		}
	}
	if c.d.Shares != nil && !slices.Equal(shares, c.d.Shares) {
		return shares, errors.New("they do not follow from the seed, sender, key, mode, spread, total and count")
	}
	return shares, nil
}

func (c *checker) held() error {
	if !slices.Equal(c.d.Held, HeldRanks(c.seed, c.d.Sender, c.d.Key, c.d.Count, len(c.d.Held))) {
		return errors.New("the held ranks do not follow from the seed")
	}
	return nil
}

func (c *checker) offsets() error {
	rain := c.d.Rain
	offsets, err := Offsets(c.seed, c.d.Sender, c.d.Key, rain.Waves, time.Duration(rain.DurationMS)*time.Millisecond)
	if err != nil {
		return err
	}
	for i, offset := range offsets {
		if offset.Milliseconds() != c.d.Waves[i].OffsetMS {
			return fmt.Errorf("wave %d came after %d ms, but the seed says %d ms", i+1, c.d.Waves[i].OffsetMS, offset.Milliseconds())
		}
	}
	return nil
}

// wave checks a wave: its root, then its winners.
func (c *checker) wave(w *Wave, shares []int64) {
	leaves, err := checkRoot(w)
	c.add("root", w.Wave, err, fmt.Sprintf("it covers %d participants", w.Entries))
	if leaves == nil {
		return // the winners cannot be compared with anything
	}
	order := Order(c.seed, c.d.Sender, c.d.Key, w.Wave, leaves)
	unnamed, err := c.winners(w, leaves, order, shares)
	c.add("winners", w.Wave, err, fmt.Sprintf("%d of %d, in the order that follows from the seed", len(w.Winners), w.Entries))
	if unnamed > 0 && err == nil {
		c.add("unnamed", w.Wave, nil, fmt.Sprintf("%d of them are users that were erased, so their leaves cannot be recomputed", unnamed))
	}
}

// checkRoot returns the leaves. They are nil if they cannot be read.
func checkRoot(w *Wave) (leaves []Hash, err error) {
	root, err := hashOf(w.Root)
	if err != nil {
		return nil, fmt.Errorf("the root %w", err)
	}
	if w.Entries != len(w.Leaves) {
		return nil, fmt.Errorf("there are %d leaves of %d participants, so who came first in the order cannot be checked", len(w.Leaves), w.Entries)
	}
	leaves = make([]Hash, len(w.Leaves))
	for i, text := range w.Leaves {
		if leaves[i], err = hashOf(text); err != nil {
			return nil, fmt.Errorf("leaf %d %w", i, err)
		}
		if i > 0 && bytes.Compare(leaves[i-1][:], leaves[i][:]) >= 0 {
			return nil, fmt.Errorf("leaf %d is not greater than the one before", i)
		}
	}
	if Root(leaves) != root {
		return leaves, errors.New("it is not the root of the leaves: one was added, left out or changed")
	}
	return leaves, nil
}

// winners compares the winners with the order of the draw. It returns how many participants of the wave were erased since.
func (c *checker) winners(w *Wave, leaves []Hash, order []int, shares []int64) (unnamed int, err error) {
	ranks, limit := c.ranks(w), 0
	if c.d.Rain != nil {
		limit = c.d.Rain.MaxWins
	} else if len(w.Passed) > 0 {
		return 0, errors.New("only a rain passes participants over")
	}
	winners, passed := w.Winners, w.Passed
	for _, at := range order {
		if len(ranks) == 0 {
			break
		}
		who, amount, isPassed := Participant{}, int64(0), false
		switch leaf := hex.EncodeToString(leaves[at][:]); {
		case len(passed) > 0 && strings.EqualFold(passed[0].Leaf, leaf):
			who, passed, isPassed = passed[0], passed[1:], true
		case len(winners) > 0 && strings.EqualFold(winners[0].Leaf, leaf):
			who, amount = winners[0].Participant, winners[0].Amount
			if winners[0].Rank != ranks[0] {
				return 0, fmt.Errorf("winner %q has rank %d, want %d", who.User, winners[0].Rank, ranks[0])
			}
			winners = winners[1:]
		default:
			return 0, fmt.Errorf("the leaf %s comes before share %d is given, and did not get it", leaf, ranks[0])
		}
		if err := c.named(w, who, leaves[at]); err != nil {
			return 0, err
		}
		if who.User == "" {
			unnamed++
		} else if full := limit > 0 && c.wins[who.User] >= limit; full != isPassed {
			return 0, fmt.Errorf("user %q has %d shares of at most %d: passed over is %v", who.User, c.wins[who.User], limit, isPassed)
		}
		if isPassed {
			continue
		}
		if ranks[0] > len(shares) || amount != shares[ranks[0]-1] {
			return 0, fmt.Errorf("winner %q has %d, which is not share %d", who.User, amount, ranks[0])
		}
		c.wins[who.User]++
		c.taken[ranks[0]] = true
		ranks = ranks[1:]
	}
	if len(winners)+len(passed) > 0 {
		return 0, fmt.Errorf("%d winners and %d passed over are not among the first of the order", len(winners), len(passed))
	}
	return unnamed, nil
}

// ranks returns the ranks that the wave gives, in their order.
func (c *checker) ranks(w *Wave) []int {
	return waveRanks(max(1, w.Wave), c.d.Count, c.taken)
}

// named returns an error unless the leaf is that of the participant.
func (c *checker) named(w *Wave, who Participant, leaf Hash) error {
	if who.User == "" {
		return nil
	}
	if Leaf(c.d.Sender, c.d.Key, w.Wave, who.User) != leaf {
		return fmt.Errorf("the leaf of %q is not that of the user", who.User)
	}
	return nil
}
