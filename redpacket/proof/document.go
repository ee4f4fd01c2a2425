package proof

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
	Count      int     `json:"count"`            // of shares
	Rest       string  `json:"rest,omitempty"`   // what becomes of shares that nobody wins: "refund", as without it, or "share"
	Shares     []int64 `json:"shares,omitempty"` // by rank; they follow from the other fields
	Rain       *Rain   `json:"rain,omitempty"`   // the shares are drawn in several waves
	Waves      []Wave  `json:"waves,omitempty"`  // of a draw: one; none if the first to come got the shares
}

// Wave is one draw of a packet.
type Wave struct {
	Wave    uint32   `json:"wave"`            // of a rain, from 1; 0: the only one of a draw
	Opens   int64    `json:"opens,omitempty"` // of a rain: when users could begin to enter it, in Unix milliseconds
	Root    string   `json:"root"`
	Entries int      `json:"entries"`          // number of participants
	Leaves  []string `json:"leaves,omitempty"` // of all participants, in ascending order
	Winners []Winner `json:"winners"`          // in the order of the draw
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
	What  string // commitment, shares, instant, root, winners, unnamed or ended
	Holds bool
	Text  string // what holds, or the first fault
}

// The rules of Rest.
const (
	RestRefund = "refund"
	RestShare  = "share"
)

// maxShares bounds the work for a document from a stranger.
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
	c.add("commitment", c.commitment(), "it is the SHA-256 of the seed")
	shares, err := c.cut()
	c.add("shares", err, "they follow from the seed")
	c.waves(shares)
	for _, f := range c.findings {
		if !f.Holds {
			return c.findings, fmt.Errorf("proof: %s: %s", f.What, f.Text)
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

// String returns the finding as a line for people.
func (f Finding) String() string {
	if f.Holds {
		return f.What + ": OK, " + f.Text
	}
	return f.What + ": WRONG, " + f.Text
}

// checker compares a document with what follows from its seed.
type checker struct {
	d        Document
	seed     Seed
	findings []Finding

	opens []int64 // of a rain: when its waves begin
	round *Round  // of a rain
}

func (c *checker) add(what string, fault error, holds string) {
	if fault != nil {
		holds = fault.Error()
	}
	c.findings = append(c.findings, Finding{What: what, Holds: fault == nil, Text: holds})
}

// form returns an error if the document is of no packet that there can be.
func (c *checker) form() error {
	d := &c.d
	seed, err := hashOf(d.Seed)
	if err != nil {
		return fmt.Errorf("the seed %w", err)
	}
	c.seed = seed
	switch {
	case d.Packet == "" || d.Sender == "" || d.Key == "" || d.Commitment == "":
		return errors.New("packet, sender, key and commitment are needed")
	case d.Count < 1 || d.Count > maxShares:
		return fmt.Errorf("count must be 1 to %d", maxShares)
	case d.Rest != "" && d.Rest != RestRefund && d.Rest != RestShare:
		return fmt.Errorf("rest must be %s or %s", RestRefund, RestShare)
	case d.Rest == RestShare && (len(d.Waves) == 0 || d.Rain != nil):
		return errors.New("only a draw can share its rest")
	case d.Rain != nil:
		return c.rainForm()
	case len(d.Waves) > 1 || len(d.Waves) == 1 && d.Waves[0].Wave != 0:
		return errors.New("a packet has at most one draw, with the wave 0")
	}
	return nil
}

// rainForm returns an error if there is no such rain.
func (c *checker) rainForm() error {
	d, r := &c.d, c.d.Rain
	if err := r.Check(); err != nil {
		return err
	}
	switch {
	case d.Count%r.Waves != 0:
		return errors.New("the count of a rain must be a multiple of its waves")
	case len(d.Waves) > r.Waves:
		return fmt.Errorf("there are %d waves of a rain of %d", len(d.Waves), r.Waves)
	}
	for i := range d.Waves {
		if d.Waves[i].Wave != uint32(i+1) {
			return fmt.Errorf("wave %d comes at place %d", d.Waves[i].Wave, i+1)
		}
	}
	c.opens, c.round = r.Opens(c.seed, d.Sender, d.Key), r.NewRound(d.Count)
	return nil
}

// waves checks all waves in their order.
func (c *checker) waves(shares []int64) {
	for i := range c.d.Waves {
		if w := &c.d.Waves[i]; !c.wave(w, shares) {
			return // the next ones follow from it
		}
	}
	if r := c.d.Rain; r != nil && len(c.d.Waves) < r.Waves {
		c.add("ended", nil, fmt.Sprintf("the rain has ended after %d of %d waves", len(c.d.Waves), r.Waves))
	}
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

// wave checks a wave: when it came, its root, then its winners. It returns false if the winners could not be checked, or are wrong.
func (c *checker) wave(w *Wave, shares []int64) bool {
	add := c.add
	if c.d.Rain != nil {
		of := fmt.Sprintf("wave %d: ", w.Wave)
		add = func(what string, fault error, holds string) {
			if fault != nil {
				fault = fmt.Errorf("%s%w", of, fault)
			}
			c.add(what, fault, of+holds)
		}
		var err error
		if opens := c.d.Rain.Begin + c.opens[w.Wave-1]; w.Opens != opens {
			err = fmt.Errorf("it has opened at %d, and the seed says %d", w.Opens, opens)
		}
		add("instant", err, "it has opened when the seed says")
	}
	leaves, err := checkRoot(w)
	add("root", err, fmt.Sprintf("it covers %d participants", w.Entries))
	if leaves == nil {
		return false // the winners cannot be compared with anything
	}
	order := Order(c.seed, c.d.Sender, c.d.Key, w.Wave, leaves)
	first, won := 0, Winners(order, c.d.Count)
	if c.round != nil {
		names := c.names(w)
		first = c.round.Next()
		won = c.round.Draw(int(w.Wave), order, func(i int) string { return cmp.Or(names[leaves[i]], hex.EncodeToString(leaves[i][:])) })
	}
	unnamed, err := c.winners(w, leaves, won, shares, first)
	add("winners", err, fmt.Sprintf("%d of %d, in the order that follows from the seed", len(w.Winners), w.Entries))
	if unnamed > 0 && err == nil {
		add("unnamed", nil, fmt.Sprintf("%d of them are users that were erased, so their leaves cannot be recomputed", unnamed))
	}
	return err == nil
}

// names returns the leaves, in the wave, of all users that have won in any wave.
func (c *checker) names(w *Wave) map[Hash]string {
	names := map[Hash]string{}
	for i := range c.d.Waves {
		for _, winner := range c.d.Waves[i].Winners {
			if winner.User != "" {
				names[Leaf(c.d.Sender, c.d.Key, w.Wave, winner.User)] = winner.User
			}
		}
	}
	return names
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

// winners compares the winners of a wave with those that are drawn. first is the share of the first one. It returns how many of them were
// erased since.
func (c *checker) winners(w *Wave, leaves []Hash, won []int, shares []int64, first int) (unnamed int, err error) {
	for place, at := range won {
		rank, leaf := first+place+1, hex.EncodeToString(leaves[at][:])
		if place >= len(w.Winners) || !strings.EqualFold(w.Winners[place].Leaf, leaf) {
			return 0, fmt.Errorf("share %d goes to the leaf %s, which did not get it", rank, leaf)
		}
		winner := &w.Winners[place]
		switch {
		case winner.Rank != rank:
			return 0, fmt.Errorf("winner %q has rank %d, want %d", winner.User, winner.Rank, rank)
		case rank > len(shares) || winner.Amount != shares[rank-1]:
			return 0, fmt.Errorf("winner %q has %d, which is not share %d", winner.User, winner.Amount, rank)
		case winner.User == "":
			unnamed++
		case Leaf(c.d.Sender, c.d.Key, w.Wave, winner.User) != leaves[at]:
			return 0, fmt.Errorf("the leaf of %q is not that of the user", winner.User)
		}
	}
	if more := len(w.Winners) - len(won); more > 0 {
		return 0, fmt.Errorf("%d winners are not among the first of the order", more)
	}
	return unnamed, nil
}
