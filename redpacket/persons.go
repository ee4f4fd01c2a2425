package redpacket

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"hongbao/chat"
)

// A packet with OnePerPerson pays at most one share to each person, whatever number of accounts the person has. The host says which accounts
// are one person, by a claim of their tokens; a user without it is a person of their own. Before a user may get a share, the ledger binds the
// person to the user, for this packet and for good, with a unique key on packet and person. Settle and End pay only users to whom a person is
// bound. So whatever the Pool grants, forgets and grants again, and whatever the database loses, no person has two shares. Only a hash of the
// person is stored, and it is another one in each packet.

// personIn returns what stands for a person in the packet. Without a person, it is the user.
func (p *Packet) personIn(person, user string) string {
	kind := "person"
	if person == "" {
		kind, person = "user", user
	}
	return hex.EncodeToString(chat.RequestHash("hongbao/person/1", p.ID, kind, person))
}

// errUnbound means that no person is bound to the user. Its callers bind the person and grab again.
var errUnbound = fmt.Errorf("no person is bound to the user: %w", chat.ErrUnavailable)

// grabAs grabs a share of a packet with OnePerPerson. bind binds the user's person and returns the user to which it is bound. It is called
// only if the packet has a share for the user, so users that come too late write nothing. It is also called if the database has lost to whom
// the person is bound, together with the claim of a share that the Pool has granted.
func (f *flow) grabAs(ctx context.Context, a Attempt, deny error, bind func() (user string, err error)) (grabbed, error) {
	first, refusal := a, deny
	if a.May == MayGrab {
		first.May, refusal = Denied, errUnbound
	}
	v, err := f.grab(ctx, first, refusal)
	if !errors.Is(err, errUnbound) {
		return v, err
	}
	bound, err := bind()
	switch {
	case err != nil:
		return grabbed{}, err
	case bound != a.User:
		return grabbed{outcome: OutcomeElsewhere, other: bound, taken: v.taken}, nil
	}
	return f.grab(ctx, a, deny)
}

// grabAs grabs a share for the user, of a packet with OnePerPerson as the user's person.
func (s *Service) grabAs(ctx context.Context, k *cachedPacket, r GrabRequest, a Attempt, deny error) (grabbed, error) {
	grab := context.WithoutCancel(ctx)
	if !k.packet.OnePerPerson {
		return s.flow.grab(grab, a, deny)
	}
	person := k.packet.personIn(r.Person, r.User)
	return s.flow.grabAs(grab, a, deny, func() (string, error) {
		bound, err := s.binding.do(ctx, k, Entrant{User: r.User, Person: person})
		return bound[person], err
	})
}

// bindPersons binds the persons of users that grab a packet at the same time.
func (s *Service) bindPersons(ctx context.Context, k *cachedPacket, users []Entrant) (map[string]string, error) {
	return s.ledger.BindPersons(ctx, k.packet.ID, users, s.o.Now())
}
