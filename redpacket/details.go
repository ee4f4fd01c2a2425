package redpacket

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"time"

	"hongbao/chat"
)

// Details is the present state of a packet, for one user. Its Claims have all amounts: if ShowAmounts is false, the caller must hide
// those of other users.
type Details struct {
	Packet      Packet
	State       State
	Claims      []Paid // one page: the claims after the rank that was asked for
	ShowAmounts bool   // whether the user sees the amounts of others: always the sender and winners; other users after the end
	More        bool
	Proof       *Proof // nil until the packet has ended
}

// Proof holds what is needed to recompute the shares of a packet.
type Proof struct {
	Seed       string // hex
	Commitment string
	Shares     []Money
}

// Details returns the state of a packet for the user, with at most limit of its claims, those after afterRank.
func (s *Service) Details(ctx context.Context, user, packet string, afterRank, limit int) (Details, error) {
	if afterRank < 0 {
		return Details{}, chat.BadField("after_rank", "must not be negative")
	}
	if err := s.mayRead(ctx, user, packet); err != nil {
		return Details{}, err
	}
	p, err := s.ledger.Details(ctx, DetailsQuery{User: user, Packet: packet, AfterRank: afterRank, Limit: limit})
	if err != nil {
		return Details{}, err
	}
	s.showDraw(&p.State)
	d := Details{Packet: p.Packet, State: p.State, Claims: p.Claims, More: p.More}
	if p.Packet.IsDraw() && p.State.Rain == nil && p.State.Status == Open {
		d.Claims, d.More = nil, false // see showDraw
	}
	d.ShowAmounts = p.State.Status != Open || p.State.Mine != nil || user == p.Packet.From.ID
	if p.State.Status != Open {
		d.Proof = &Proof{Seed: hex.EncodeToString(p.Seed[:]), Commitment: p.Packet.Commitment, Shares: p.Shares}
	}
	return d, nil
}

// Envelope returns a packet of the room that a newcomer may grab: it is open, and neither for named users nor for earlier members. Any other one
// is chat.ErrNotFound. The caller must have checked that the packets of the room may be seen.
func (s *Service) Envelope(ctx context.Context, room, packet string) (Packet, error) {
	k, err := s.lookup(ctx, packet)
	if err != nil {
		return Packet{}, err
	}
	p := k.packet
	if p.Room != room || len(p.To) > 0 || p.EarlierMembers {
		return Packet{}, chat.ErrNotFound
	}
	states, err := s.ledger.States(ctx, "", []string{packet})
	if err == nil && (len(states) == 0 || states[0].Status != Open) {
		err = chat.ErrNotFound
	}
	return p, err
}

// mayRead returns an error unless the packet exists and the user may read its room.
func (s *Service) mayRead(ctx context.Context, user, packet string) error {
	k, err := s.lookup(ctx, packet)
	if err != nil {
		return err
	}
	standing, err := s.rooms.Standing(ctx, k.packet.Room, user)
	if err != nil {
		return err
	}
	if !standing.Ever { // as for a grab: a user that never was a member of the room must not learn that the packet exists
		return chat.ErrNotFound
	}
	return standing.MayRead()
}

// Cancel ends a packet for its sender. It returns the present state of the packet and the sender's present account. It
// returns ErrPacketFinished if any user has got a share, if the deadline has come, or if the packet has ended for another
// reason. A repeated Cancel succeeds.
func (s *Service) Cancel(ctx context.Context, user, packet string) (State, Account, error) {
	k, err := s.lookup(ctx, packet)
	if err != nil {
		return State{}, Account{}, err
	}
	if err := s.mayCancel(ctx, user, &k.packet); err != nil {
		return State{}, Account{}, err
	}
	ctx = context.WithoutCancel(ctx)
	book, err := s.ledger.Book(ctx, packet)
	if err != nil {
		return State{}, Account{}, err
	}
	if book.Status == Open {
		if err := s.clocks.err(); err != nil {
			return State{}, Account{}, err
		}
		closed, err := s.flow.close(ctx, k.packet.Ref, CloseCancel)
		if err != nil {
			return State{}, Account{}, err
		}
		book = closed.Book
	}
	if book.Status != Cancelled {
		return State{}, Account{}, ErrPacketFinished
	}
	acc, err := s.ledger.Account(ctx, user)
	return book.StateOf(user), acc, err
}

// mayCancel returns an error unless the user may cancel the packet. A sender that has left the room still may cancel it, unless
// the room is deleted.
func (s *Service) mayCancel(ctx context.Context, user string, p *Packet) error {
	standing, err := s.rooms.Standing(ctx, p.Room, user)
	switch {
	case err != nil:
		return err
	case !standing.Ever, standing.RoomDeleted:
		return chat.ErrNotFound
	case p.From.ID == user:
		return nil
	}
	return cmp.Or(standing.MayRead(), chat.ErrForbidden)
}

// States returns the packets' states as the user may see them. The caller must have checked that the user may see
// these packets.
func (s *Service) States(ctx context.Context, user string, packets []string) ([]State, error) {
	if len(packets) == 0 {
		return nil, nil
	}
	states, err := s.ledger.States(ctx, user, packets)
	for i := range states {
		s.showDraw(&states[i])
	}
	return states, err
}

// maxAhead is how far a clock may be from UTC.
const maxAhead = 14 * time.Hour

// Packets lists the packets that the user sent or received, with totals, those that wait for the user, or the packets of a room.
func (s *Service) Packets(ctx context.Context, q PacketsQuery) (PacketsPage, error) {
	switch {
	case !slices.Contains([]Direction{DirSent, DirReceived, DirWaiting, DirRoom, DirOpen}, q.Direction):
		return PacketsPage{}, chat.BadField("direction", "must be sent, received or waiting")
	case q.Days && q.Ahead.Abs() > maxAhead:
		return PacketsPage{}, chat.BadField("utc_offset_min", "must be from -840 to 840")
	case !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From):
		return PacketsPage{}, chat.BadField("to", "must not be before from")
	}
	limit := q.Limit
	if q.Direction == DirWaiting {
		q.Limit = max(limit, waitingLooks)
	}
	page, err := s.ledger.Packets(ctx, q)
	if err == nil && q.Direction == DirWaiting {
		page.Packets, err = s.waiting(ctx, q.Of, page.Packets)
		page.Packets = page.Packets[:min(limit, len(page.Packets))]
	}
	for i := range page.Packets {
		s.showDraw(&page.Packets[i].State)
	}
	return page, err
}

// waitingLooks is how many packets are looked at for those that wait: some are not for the user, or the user has entered them.
const waitingLooks = 200

// waiting returns the packets that the user may grab, and has not entered.
func (s *Service) waiting(ctx context.Context, user string, packets []PacketState) (wait []PacketState, err error) {
	for i := range packets {
		p, state := &packets[i].Packet, &packets[i].State
		switch {
		case len(p.To) > 0 && !slices.Contains(p.To, user), p.OpensAt.After(s.o.Now()), state.Draw != nil && state.Draw.Mine != nil, state.Rain != nil && len(state.Rain.Wins) > 0:
			continue
		case p.EarlierMembers:
			standing, err := s.rooms.Standing(ctx, p.Room, user)
			if err != nil {
				return nil, err
			}
			if !standing.JoinedBefore(p.Seq) {
				continue
			}
		}
		wait = append(wait, packets[i])
	}
	return wait, nil
}

// Part says which packets of a room are listed. AllOfRoom lists all. MineOfRoom lists those that the user has sent, entered, or got a share of.
type Part string

// The parts.
const (
	AllOfRoom   Part = ""
	OpenOfRoom  Part = "open"
	MineOfRoom  Part = "mine"
	EndedOfRoom Part = "ended"
)

// OfRoom lists packets of a room for one of its members, newest first. next is the cursor of the page, and more that of the following one; "" if
// there is none. A page may have fewer packets than limit, even none, although more follow.
func (s *Service) OfRoom(ctx context.Context, user, room string, part Part, next string, limit int) (packets []PacketState, more string, err error) {
	if !slices.Contains([]Part{AllOfRoom, OpenOfRoom, MineOfRoom, EndedOfRoom}, part) {
		return nil, "", chat.BadField("part", "must be open, mine or ended")
	}
	standing, err := s.rooms.Standing(ctx, room, user)
	if err == nil {
		err = standing.MayRead()
	}
	if err != nil {
		return nil, "", err
	}
	q := PacketsQuery{Of: room, As: user, Direction: DirRoom, Next: next, Limit: limit}
	if part == OpenOfRoom {
		q.Direction = DirOpen
	}
	page, err := s.Packets(ctx, q)
	return slices.DeleteFunc(page.Packets, func(p PacketState) bool { return !part.has(user, p) }), page.Next, err
}

// has reports whether a packet belongs to the part for the user.
func (part Part) has(user string, p PacketState) bool {
	s := p.State
	switch part {
	case MineOfRoom:
		return p.Packet.From.ID == user || s.Mine != nil || s.Draw != nil && s.Draw.Mine != nil || s.Rain != nil && len(s.Rain.Wins) > 0
	case EndedOfRoom:
		return s.Status != Open
	default:
		return true
	}
}
