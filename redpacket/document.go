package redpacket

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"

	"hongbao/chat"
	"hongbao/redpacket/proof"
)

const (
	participantsPage = 5_000 // participants that are read at a time
	campaignsAtOnce  = 2     // calls of Campaign that run at once
)

// Document returns the proof of a finished packet as one document, for a user that may read its room. Its size grows with the number of
// participants: it has the leaf of each.
func (s *Service) Document(ctx context.Context, user, packet string) (proof.Document, error) {
	if err := s.mayRead(ctx, user, packet); err != nil {
		return proof.Document{}, err
	}
	c, err := s.Campaign(ctx, packet)
	return c.Document, err
}

// Campaign is all that a host must keep of a finished packet for those that ask how it went: the book, the participants and the proof.
type Campaign struct {
	Book         Book
	Participants []Participant // of a draw, ordered by leaf; of a rain, wave after wave
	Waves        []Wave        // of a rain
	Document     proof.Document
}

// Campaign returns what is stored of a finished packet, which may have very many participants. So few calls run at once. The caller must not
// change what it returns.
func (s *Service) Campaign(ctx context.Context, packet string) (c Campaign, err error) {
	if len(packet) > idBytes {
		return Campaign{}, chat.ErrNotFound
	}
	done, err := s.campaigns.Lock(ctx, "")
	if err != nil {
		return Campaign{}, fmt.Errorf("%w: too many proofs are read at once: %w", chat.ErrUnavailable, err)
	}
	defer done()
	if last := s.lastCampaign.Load(); last != nil && last.Book.Packet.ID == packet {
		return *last, nil // many ask for the proof of a draw that has just ended
	}
	if c.Book, err = s.ledger.Book(ctx, packet); err != nil {
		return Campaign{}, err
	}
	if c.Book.Status == Open {
		return Campaign{}, &chat.FieldError{Err: chat.ErrConflict, Field: "packet", Reason: "has not ended yet: its proof would reveal its seed"}
	}
	if c.Book.Draw != nil {
		if err = s.readDraw(ctx, &c); err != nil {
			return Campaign{}, err
		}
	}
	c.Document = c.document()
	s.lastCampaign.Store(&c)
	return c, nil
}

// readDraw reads the participants of a draw, or the waves of a rain with theirs.
func (s *Service) readDraw(ctx context.Context, c *Campaign) (err error) {
	packet := c.Book.Packet.ID
	if c.Book.Packet.Rain.Waves == 0 {
		c.Participants, err = s.participants(ctx, packet, 0)
		return err
	}
	if c.Waves, err = s.ledger.Waves(ctx, packet); err != nil {
		return err
	}
	for _, w := range c.Waves {
		of, err := s.participants(ctx, packet, w.Number)
		if err != nil {
			return err
		}
		c.Participants = append(c.Participants, of...)
	}
	return nil
}

// participants reads all participants of a draw or wave, sorted by leaf.
func (s *Service) participants(ctx context.Context, packet string, wave int) (all []Participant, err error) {
	for after := ""; ; {
		page, err := s.ledger.Participants(ctx, packet, wave, after, participantsPage)
		if all = append(all, page...); err != nil || len(page) < participantsPage {
			SortByLeaf(all)
			return all, err
		}
		after = page[len(page)-1].User
	}
}

// document returns the proof of the packet, which has ended.
func (c *Campaign) document() proof.Document {
	b, p := &c.Book, &c.Book.Packet
	d := proof.Document{
		Packet: p.ID, Seed: hex.EncodeToString(b.Seed[:]), Commitment: p.Commitment, Sender: p.From.ID, Key: p.Key,
		Mode: string(p.Mode), Spread: string(p.Spread), Total: int64(p.Total), Count: p.Count,
	}
	for _, share := range b.Shares {
		d.Shares = append(d.Shares, int64(share))
	}
	if b.Draw != nil && p.Rain.Waves > 0 {
		rain := p.rule()
		d.Rain = &rain
		left, opens := c.Participants, p.Opens(b.Seed)
		for _, w := range c.Waves {
			next := b.wave(Drawn{Participants: w.Participants, Root: w.Root}, w.Number, left[:w.Participants], winnersOf([]Wave{w}))
			next.Opens = opens[w.Number-1].UnixMilli()
			d.Waves, left = append(d.Waves, next), left[w.Participants:]
		}
	} else if b.Draw != nil {
		drawn := Draw{Book: *b, Participants: c.Participants}
		d.Rest, d.Waves = string(RestRefund), []proof.Wave{b.wave(*b.Draw, 0, c.Participants, drawn.Winners())}
		if b.Draw.Parts > 0 {
			d.Rest = string(RestShare) // otherwise nothing was shared: there were enough participants, or none, or the draw has ended early
		}
	}
	return d
}

// wave returns a draw of the packet. Its winners are those that are drawn, also one whose payment is in quarantine.
func (b *Book) wave(drawn Drawn, number int, participants []Participant, winners []Grant) proof.Wave {
	w := proof.Wave{Wave: uint32(number), Root: drawn.Root, Entries: drawn.Participants, Winners: []proof.Winner{}}
	leaves := make(map[string]string, len(participants))
	for _, n := range participants {
		leaf := hex.EncodeToString(n.Leaf[:])
		w.Leaves, leaves[n.User] = append(w.Leaves, leaf), leaf
	}
	for _, g := range winners {
		w.Winners = append(w.Winners, proof.Winner{
			Participant: proof.Participant{User: g.User, Leaf: leaves[g.User]}, Amount: int64(b.Shares[g.Share]), Rank: g.Share + 1,
		})
	}
	return w
}

// receipt returns the receipt of a participant: the server's word that the participant is in the draw.
func (s *Service) receipt(packet string, p *Participant) *proof.Receipt {
	text := proof.ReceiptText(packet, uint32(p.Wave), p.Leaf, p.User, p.At.UnixMilli())
	return &proof.Receipt{
		Packet: packet, Wave: uint32(p.Wave), User: p.User, Leaf: hex.EncodeToString(p.Leaf[:]), At: p.At.UnixMilli(),
		Key: s.ReceiptKey(), Signature: hex.EncodeToString(ed25519.Sign(s.o.ReceiptKey, text)),
	}
}

// ReceiptKeys returns the public keys that have signed receipts, in hex. The present one is the last.
func (s *Service) ReceiptKeys() []string {
	var keys []string
	for _, key := range s.o.ReceiptKeys {
		keys = append(keys, hex.EncodeToString(key))
	}
	return keys
}

// ReceiptKey returns the last of ReceiptKeys.
func (s *Service) ReceiptKey() string {
	return hex.EncodeToString(s.o.ReceiptKey.Public().(ed25519.PublicKey))
}

// showDraw adds the receipt to the state of a draw that its user has entered. Of a draw that has not ended it hides what was paid already:
// all learn the result at the same moment.
func (s *Service) showDraw(state *State) {
	s.showRain(state)
	d := state.Draw
	if d == nil {
		return
	}
	if d.Mine != nil {
		d.Receipt = s.receipt(state.Packet, d.Mine)
	}
	if state.Status == Open && state.Rain == nil {
		state.Claimed, state.Mine, d.Root = 0, nil, ""
	}
}
