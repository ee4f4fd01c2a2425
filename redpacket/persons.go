package redpacket

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"hongbao/chat"
)

// A packet with OnePerPerson pays at most one share to each person, whatever number of accounts the person has. The host says which accounts
// are one person, by a claim of their tokens; a user without it is a person of their own. Before a user may get a share, the ledger binds the
// person to the user, for this packet and for good, with a unique key on packet and person. So whatever the Pool grants, forgets and grants
// again, only users that have a person of their own are granted a share. Only a hash of the person is stored, and it is another one in each
// packet.

// PersonBinding binds a person to the user that may get the person's share of a packet.
type PersonBinding struct {
	Packet string
	Person string // see personIn
	User   string
	At     time.Time
}

// personIn returns what stands for a person in the packet. Without a person, it is the user.
func (p *Packet) personIn(person, user string) string {
	kind := "person"
	if person == "" {
		kind, person = "user", user
	}
	return hex.EncodeToString(chat.RequestHash("hongbao/person/1", p.ID, kind, person))
}

// errUnbound stands for the refusal of a user whose person is not bound yet.
var errUnbound = errors.New("the person is not bound")

// grabAs grabs a share for the user, of a packet with OnePerPerson only if the user's person is bound to this user. It binds the person
// only if the packet has a share for the user. So users that come too late write nothing.
func (s *Service) grabAs(ctx context.Context, k *cachedPacket, r GrabRequest, a Attempt, deny error) (grabbed, error) {
	if !k.packet.OnePerPerson || a.May != MayGrab {
		return s.flow.grab(ctx, a, deny)
	}
	a.May = Denied
	v, err := s.flow.grab(ctx, a, errUnbound)
	if !errors.Is(err, errUnbound) {
		return v, err
	}
	bound, err := s.ledger.BindPerson(ctx, PersonBinding{Packet: a.ID, Person: k.packet.personIn(r.Person, r.User), User: r.User, At: s.o.Now()})
	switch {
	case err != nil:
		return grabbed{}, err
	case bound != r.User:
		return grabbed{outcome: OutcomeElsewhere, other: bound, taken: v.taken}, nil
	}
	a.May = MayGrab
	return s.flow.grab(ctx, a, nil)
}
