package redpacket

import (
	"context"
	"encoding/hex"

	"hongbao/chat"
	"hongbao/redpacket/proof"
)

// participantsPage is how many participants are read at a time.
const participantsPage = 5_000

// Document returns the proof of a finished packet as one document, for a user that may read its room. Its size grows with the number of
// participants: it has the leaf of each.
func (s *Service) Document(ctx context.Context, user, packet string) (proof.Document, error) {
	if err := s.mayRead(ctx, user, packet); err != nil {
		return proof.Document{}, err
	}
	return s.document(ctx, packet)
}

func (s *Service) document(ctx context.Context, packet string) (proof.Document, error) {
	b, err := s.ledger.Book(ctx, packet)
	if err != nil {
		return proof.Document{}, err
	}
	if b.Status == Open {
		return proof.Document{}, &chat.FieldError{Err: chat.ErrConflict, Field: "packet", Reason: "has not ended yet: its proof would reveal its seed"}
	}
	p := &b.Packet
	d := proof.Document{
		Packet: p.ID, Seed: hex.EncodeToString(b.Seed[:]), Commitment: p.Commitment, Sender: p.From.ID, Key: p.Key,
		Mode: string(p.Mode), Spread: string(p.Spread), Total: int64(p.Total), Count: p.Count, Rest: string(p.Rest),
	}
	for _, share := range b.Shares {
		d.Shares = append(d.Shares, int64(share))
	}
	if b.Draw == nil {
		return d, nil
	}
	wave, err := s.drawOf(ctx, &b)
	d.Waves = []proof.Wave{wave}
	return d, err
}

// drawOf returns the draw of a book.
func (s *Service) drawOf(ctx context.Context, b *Book) (proof.Wave, error) {
	w := proof.Wave{Root: b.Draw.Root, Entries: b.Draw.Participants, Winners: make([]proof.Winner, len(b.Claims))}
	won := make(map[string]int, len(b.Claims))
	for i, c := range b.Claims {
		won[c.User.ID] = i
	}
	for after := ""; ; {
		page, err := s.ledger.Participants(ctx, b.Packet.ID, after, participantsPage)
		if err != nil {
			return proof.Wave{}, err
		}
		for _, n := range page {
			leaf := hex.EncodeToString(n.Leaf[:])
			w.Leaves = append(w.Leaves, leaf)
			if i, has := won[n.User]; has {
				c := &b.Claims[i]
				w.Winners[i] = proof.Winner{
					Participant: proof.Participant{User: n.User, Leaf: leaf},
					Amount:      int64(c.Amount), Rank: c.Rank(),
				}
			}
		}
		if len(page) < participantsPage {
			return w, nil
		}
		after = w.Leaves[len(w.Leaves)-1]
	}
}
