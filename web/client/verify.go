package client

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"hongbao/chat"
	"hongbao/redpacket"

	"hongbao/web/client/model"
)

// Verify recomputes the shares of a finished packet from its proof. It returns an error if they differ from those in the proof,
// or if the seed is not the one that the packet was committed to.
func Verify(p model.Packet, proof model.Proof) error {
	var seed redpacket.Seed
	raw, err := hex.DecodeString(proof.Seed)
	if err != nil || len(raw) != len(seed) {
		return fmt.Errorf("verify: the seed must have %d hex digits", 2*len(seed))
	}
	copy(seed[:], raw)
	if redpacket.Commitment(seed) != p.Commitment || proof.Commitment != p.Commitment {
		return errors.New("verify: the packet was committed to another seed")
	}
	if len(proof.Shares) != p.Count {
		return fmt.Errorf("verify: there must be %d shares", p.Count)
	}
	shares, err := redpacket.Cut(seed, redpacket.Packet{
		From: chat.User{ID: p.From.ID, Name: p.From.Name, Avatar: p.From.Avatar}, Key: p.Key, Mode: redpacket.Mode(p.Mode), Spread: redpacket.Spread(p.Spread),
		Total: redpacket.Money(p.Total), Count: p.Count,
	})
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if !slices.EqualFunc(shares, proof.Shares, func(a redpacket.Money, b int64) bool { return int64(a) == b }) {
		return errors.New("verify: the shares do not follow from the seed")
	}
	return nil
}
