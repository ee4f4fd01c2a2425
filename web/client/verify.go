package client

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"hongbao/redpacket/proof"
	"hongbao/web/client/model"
)

// Verify recomputes the shares of a finished packet from its proof. It returns an error if they differ from those in the proof,
// or if the seed is not the one that the packet was committed to.
func Verify(p model.Packet, given model.Proof) error {
	seed, ok := seedOf(given.Seed)
	if !ok {
		return fmt.Errorf("verify: the seed must have %d hex digits", 2*len(seed))
	}
	if proof.Commitment(seed) != p.Commitment || given.Commitment != p.Commitment {
		return errors.New("verify: the packet was committed to another seed")
	}
	count := p.Count
	if n := len(given.Shares); p.Rest == proof.RestShare && 0 < n && n < count {
		count = n // the total was cut anew, into one share for each participant: proof.Check compares that with the draw
	}
	if len(given.Shares) != count {
		return fmt.Errorf("verify: there must be %d shares", count)
	}
	shares, err := proof.Shares(seed, proof.Terms{Sender: p.From.ID, Key: p.Key, Mode: p.Mode, Spread: p.Spread, Total: p.Total, Count: count})
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if !slices.Equal(shares, given.Shares) {
		return errors.New("verify: the shares do not follow from the seed")
	}
	return nil
}

// seedOf decodes a seed.
func seedOf(text string) (seed proof.Seed, ok bool) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(seed) {
		return seed, false
	}
	return proof.Seed(raw), true
}

// commitmentOf returns the commitment of a seed in hex, or "" if the seed is invalid.
func commitmentOf(text string) string {
	seed, ok := seedOf(text)
	if !ok {
		return ""
	}
	return proof.Commitment(seed)
}
