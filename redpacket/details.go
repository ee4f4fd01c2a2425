package redpacket

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"

	"hongbao/chat"
)

// Details is a packet as one user may see it now.
type Details struct {
	Packet      Packet
	State       State
	Claims      []Paid // after the rank asked for
	ShowAmounts bool   // of others: to the sender, to those who claimed, to all once it is done
	More        bool
	Proof       *Proof // once it is done
}

// Proof lets anyone recompute the shares.
type Proof struct {
	Seed       string // hex
	Commitment string
	Shares     []Money
}

// Details tells a member all he may know of a packet.
func (s *Service) Details(ctx context.Context, user, packet string, afterRank, limit int) (Details, error) {
	if afterRank < 0 {
		return Details{}, chat.BadField("after_rank", "must not be negative")
	}
	if err := s.mayRead(ctx, user, packet); err != nil {
		return Details{}, err
	}
	b, err := s.ledger.Book(ctx, packet)
	if err != nil {
		return Details{}, err
	}
	d := Details{Packet: b.Packet, State: b.StateOf(user)}
	d.ShowAmounts = b.Status != Open || d.State.Mine != nil || user == b.Packet.From.ID
	from, _ := slices.BinarySearchFunc(b.Claims, afterRank+1, func(c Paid, rank int) int { return c.Rank() - rank })
	d.Claims = b.Claims[from:]
	if len(d.Claims) > limit {
		d.Claims, d.More = d.Claims[:limit], true
	}
	if b.Status != Open {
		d.Proof = &Proof{Seed: hex.EncodeToString(b.Seed[:]), Commitment: b.Packet.Commitment, Shares: b.Shares}
	}
	return d, nil
}

// mayRead says whether the user may see the packet's room.
func (s *Service) mayRead(ctx context.Context, user, packet string) error {
	k, err := s.know(ctx, packet)
	if err != nil {
		return err
	}
	standing, err := s.rooms.Standing(ctx, k.packet.Room, user)
	if err != nil {
		return err
	}
	if !standing.Ever { // as for a grab: who never was in the room has never heard of the packet
		return chat.ErrNotFound
	}
	return standing.MayRead()
}

// Cancel ends a packet that nobody has grabbed yet, at its sender's wish. Again: the same answer.
func (s *Service) Cancel(ctx context.Context, user, packet string) (State, Money, error) {
	k, err := s.know(ctx, packet)
	if err != nil {
		return State{}, 0, err
	}
	if err := s.mayCancel(ctx, user, &k.packet); err != nil {
		return State{}, 0, err
	}
	ctx = context.WithoutCancel(ctx)
	book, err := s.ledger.Book(ctx, packet)
	if err != nil {
		return State{}, 0, err
	}
	if book.Status == Open {
		closed, err := s.flow.close(ctx, k.packet.Ref, true)
		if err != nil {
			return State{}, 0, err
		}
		book = closed.Book
	}
	if book.Status != Cancelled {
		return State{}, 0, ErrPacketFinished
	}
	acc, err := s.ledger.Account(ctx, user)
	return book.StateOf(user), acc.Balance, err
}

// mayCancel says whether the packet is the user's to cancel. Its sender may be out of the room by now.
func (s *Service) mayCancel(ctx context.Context, user string, p *Packet) error {
	standing, err := s.rooms.Standing(ctx, p.Room, user)
	switch {
	case err != nil:
		return err
	case !standing.Ever, standing.Gone:
		return chat.ErrNotFound
	case p.From.ID == user:
		return nil
	}
	return cmp.Or(standing.MayRead(), chat.ErrForbidden)
}

// States of packets as the user may see them; the caller has checked that he may.
func (s *Service) States(ctx context.Context, user string, packets []string) ([]State, error) {
	if len(packets) == 0 {
		return nil, nil
	}
	return s.ledger.States(ctx, user, packets)
}

// Packets lists what the user sent or received, with totals.
func (s *Service) Packets(ctx context.Context, q PacketsQuery) (PacketsPage, error) {
	switch {
	case q.Direction != DirSent && q.Direction != DirReceived:
		return PacketsPage{}, chat.BadField("direction", "must be sent or received")
	case !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From):
		return PacketsPage{}, chat.BadField("to", "must not be before from")
	}
	return s.ledger.Packets(ctx, q)
}
