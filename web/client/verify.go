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
	var seed proof.Seed
	raw, err := hex.DecodeString(given.Seed)
	if err != nil || len(raw) != len(seed) {
		return fmt.Errorf("verify: the seed must have %d hex digits", 2*len(seed))
	}
	copy(seed[:], raw)
	if proof.Commitment(seed) != p.Commitment || given.Commitment != p.Commitment {
		return errors.New("verify: the packet was committed to another seed")
	}
	if len(given.Shares) != p.Count {
		return fmt.Errorf("verify: there must be %d shares", p.Count)
	}
	shares, err := proof.Shares(seed, proof.Terms{Sender: p.From.ID, Key: p.Key, Mode: p.Mode, Spread: p.Spread, Total: p.Total, Count: p.Count})
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if !slices.Equal(shares, given.Shares) {
		return errors.New("verify: the shares do not follow from the seed")
	}
	return nil
}
