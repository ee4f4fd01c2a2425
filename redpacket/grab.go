package redpacket

import (
	"context"
	"errors"
	"slices"
	"time"

	"hongbao/chat"
)

// Grab takes a share of the packet for the user, or says why there is none. Won and already are told only of
// committed claims. The work goes on when ctx ends: what the Pool has granted is settled, whoever waits for it.
func (s *Service) Grab(ctx context.Context, t Try) (Result, error) {
	var due time.Time // to be told pending
	if t.Waiter != nil {
		due = time.Now().Add(s.o.PendingAfter)
	}
	r, err := s.grab(ctx, t, due)
	s.count(r, err)
	return r, err
}

func (s *Service) count(r Result, err error) {
	switch {
	case err != nil:
		s.counts.failed.Add(1)
	case r.Outcome == OutcomeWon:
		s.counts.won.Add(1)
	case r.Outcome == OutcomeAlready:
		s.counts.already.Add(1)
	case r.Outcome == OutcomeEmpty:
		s.counts.empty.Add(1)
	case r.Outcome == OutcomeExpired:
		s.counts.expired.Add(1)
	}
}

func (s *Service) grab(ctx context.Context, t Try, due time.Time) (Result, error) {
	k, err := s.know(ctx, t.Packet)
	if err != nil {
		return Result{}, err
	}
	standing, err := s.rooms.Standing(ctx, k.packet.Room, t.User)
	if err != nil {
		return Result{}, err
	}
	if e := k.ending.Load(); e != nil {
		return e.answer(&k.packet, t.User, standing)
	}
	if !standing.Ever {
		return Result{}, chat.ErrNotFound
	}
	if t.Admit != nil {
		if err := t.Admit(ctx, t.User); err != nil {
			return Result{}, err
		}
	}
	return s.grabOpen(ctx, k, t, standing, due)
}

func (s *Service) grabOpen(ctx context.Context, k *known, t Try, standing chat.Standing, due time.Time) (Result, error) {
	a := Attempt{Ref: k.packet.Ref, User: t.User}
	var deny error
	if !standing.In {
		a.May, deny = NotMember, outside(standing)
	} else if deny = s.deny(ctx, &k.packet, t); deny != nil {
		a.May = Denied
	}
	wait := newSuspense(t.Waiter, due, &k.packet)
	v, err := s.flow.grab(context.WithoutCancel(ctx), a, deny, wait)
	told := wait.end()
	if told {
		s.counts.pending.Add(1)
	}
	switch {
	case v.last:
		s.closeSoon(k.packet.Ref)
	case v.ended:
		s.learnEnd(k)
	}
	if err != nil {
		return Result{}, err
	}
	r := v.result(&k.packet)
	if told {
		s.pub.ToUser(t.User, GrabDecided{r})
	}
	return r, nil
}

// result of a grab that has ended.
func (v *grabbed) result(p *Packet) Result {
	r := Result{Packet: p.ID, Outcome: v.outcome, Claimed: v.taken, Count: p.Count}
	if v.outcome == OutcomeWon || v.outcome == OutcomeAlready {
		r.Amount, r.Rank, r.At = v.paid.Amount, v.paid.Share+1, v.paid.At
	}
	if v.outcome == OutcomeWon && v.paid.Verdict == PaidNow {
		balance := v.paid.Account.Balance // alone on the heap
		r.Balance = &balance
	}
	return r
}

// deny is why a member may not grab the packet; nil: he may. He hears it only while there are shares left and he has none.
func (s *Service) deny(ctx context.Context, p *Packet, t Try) error {
	if len(p.To) > 0 && !slices.Contains(p.To, t.User) {
		return ErrNotRecipient
	}
	return s.tries.check(ctx, p, t.User, t.Passphrase)
}

// outside is what a grabber hears who was in the room and is not any more.
func outside(s chat.Standing) error {
	if s.Gone {
		return chat.ErrNotFound
	}
	return chat.ErrNotMember
}

// learnEnd has the packet's end remembered here, too, when another instance has closed it: so late-comers reach neither
// Pool nor SQL. A close that is still under way is learned by a later one.
func (s *Service) learnEnd(k *known) {
	if !k.learning.CompareAndSwap(false, true) {
		return
	}
	s.closers.start(func() {
		defer k.learning.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if book, err := s.ledger.Book(ctx, k.packet.ID); err == nil && book.Status != Open {
			s.memory.finish(book)
			s.progress.end(k.packet.ID)
		}
	})
}

// answer to a grab of a finished packet, in the order of checks that the Pool has too.
func (e *ending) answer(p *Packet, user string, standing chat.Standing) (Result, error) {
	if !standing.Ever {
		return Result{}, chat.ErrNotFound
	}
	r := Result{Packet: p.ID, Outcome: e.outcome, Claimed: e.claimed, Count: p.Count}
	if won, ok := e.winners[user]; ok {
		r.Outcome, r.Amount, r.Rank, r.At = OutcomeAlready, won.amount, won.share+1, won.at
		return r, nil
	}
	if !standing.In {
		return Result{}, outside(standing)
	}
	return r, nil
}

// Over is a packet of which the end is remembered. It is valid only for a moment.
type Over struct {
	service *Service
	known   *known
	ending  *ending
}

// Over gives the packet, if its end is remembered.
func (s *Service) Over(packet string) (o Over, ok bool) {
	k := s.memory.get(packet)
	if k == nil {
		return Over{}, false
	}
	o = Over{s, k, k.ending.Load()}
	return o, o.ending != nil
}

// Room of the packet.
func (o *Over) Room() string { return o.known.packet.Room }

// Grab is Service.Grab for one who stands so to the room. It waits for nobody.
func (o *Over) Grab(user string, standing chat.Standing) (Result, error) {
	r, err := o.ending.answer(&o.known.packet, user, standing)
	o.service.count(r, err)
	return r, err
}

// idBytes is more than the id of any packet has: what is longer is neither looked up nor remembered.
const idBytes = 64

// know gives the packet from memory, or reads it: its whole book when it is finished, so that late-comers are
// answered from memory ever after.
func (s *Service) know(ctx context.Context, packet string) (*known, error) {
	if k := s.memory.get(packet); k != nil {
		return k, nil
	}
	if len(packet) > idBytes || s.unknown.has(packet) {
		return nil, chat.ErrNotFound
	}
	image, err := s.flow.ledger.Image(ctx, packet)
	if errors.Is(err, chat.ErrNotFound) {
		s.unknown.add(packet)
	}
	if err != nil {
		return nil, err
	}
	if image.Status != Open {
		book, err := s.ledger.Book(ctx, packet)
		if err != nil {
			return nil, err
		}
		return s.memory.finish(book), nil
	}
	p, err := s.ledger.Packet(ctx, packet)
	if err != nil {
		return nil, err
	}
	return s.memory.put(p), nil
}
