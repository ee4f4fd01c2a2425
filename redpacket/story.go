package redpacket

import (
	"context"
	"encoding/hex"
	"time"

	"hongbao/chat"
)

// Stories is the part of the Ledger that reads the Story of a packet.
type Stories interface {
	// Story reads what is stored about a packet, in one consistent read. The cost grows with the number of claims. It returns
	// chat.ErrNotFound if nothing is stored. If the database has lost the packet, its claims may still be in quarantine: then
	// Book is empty.
	Story(ctx context.Context, packet string) (Story, error)
}

// Story is what is stored about a packet: its book, its entries, its transfers and its claims in quarantine.
type Story struct {
	Book      Book      // empty: the packet itself is not stored
	ClosedAt  time.Time // zero: the packet is open
	Entries   []chat.Entry
	Transfers []LedgerTransfer // the sending, the claims by share, the refund

	Quarantined []Quarantined
}

// Story returns what is stored about a packet. The seed and the shares are in the Proof, and not in the Book. The Proof is nil
// while the packet is open: a user that knew the shares could wait for a large one. It is also nil if the Book is empty.
func (s *Service) Story(ctx context.Context, packet string) (Story, *Proof, error) {
	if len(packet) > idBytes {
		return Story{}, nil, chat.ErrNotFound
	}
	story, err := s.ledger.Story(ctx, packet)
	if err != nil {
		return Story{}, nil, err
	}
	b := &story.Book
	var proof *Proof
	if b.Packet.ID != "" && b.Status != Open {
		proof = &Proof{Seed: hex.EncodeToString(b.Seed[:]), Commitment: b.Packet.Commitment, Shares: b.Shares}
	}
	b.Seed, b.Shares = Seed{}, nil
	return story, proof, nil
}
