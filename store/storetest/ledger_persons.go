package storetest

import (
	"fmt"

	"hongbao/redpacket"
)

func personTests() []ledgerTest {
	return []ledgerTest{
		{"person/one account of a person is bound, for good", func(b *ledgerBench) {
			p, other := b.packet(10, 2), b.packet(10, 2)
			equal(b, "first", b.bind(p, "mei", member(0)), member(0))
			equal(b, "again", b.bind(p, "mei", member(0)), member(0))
			equal(b, "another account", b.bind(p, "mei", member(1)), member(0))
			equal(b, "another person of the account", b.bind(p, "ann", member(0)), member(0))
			equal(b, "another packet", b.bind(other, "mei", member(1)), member(1))
		}},
		{"person/many accounts at once", func(b *ledgerBench) {
			p := b.packet(10, 2)
			bound := make([]string, members)
			together(members, func(i int) { bound[i] = b.bind(p, "mei", member(i)) })
			for i := range bound {
				equal(b, "account of the person", bound[i], bound[0])
			}
		}},
		{"person/a draw has one account of each person", func(b *ledgerBench) {
			p := b.draw(1000, 3, redpacket.RestRefund, farAway)
			enter := func(persons ...string) redpacket.Entering {
				b.Helper()
				var users []redpacket.Entrant
				for i, person := range persons {
					if person != "" {
						users = append(users, redpacket.Entrant{User: member(i), Person: person})
					}
				}
				e, err := b.ledger.Enter(b.ctx, p.ID, users)
				b.must(err)
				return e
			}
			first := enter("mei", "ann", "mei")
			equal(b, "new", first.New, []string{member(0), member(1)})
			equal(b, "elsewhere", first.Elsewhere, map[string]string{member(2): member(0)})
			later := enter("bob", "", "mei", "ann", "eve")
			equal(b, "new", later.New, []string{member(4)})
			equal(b, "elsewhere", later.Elsewhere, map[string]string{member(2): member(0), member(3): member(1)})
			equal(b, "participants", later.Participants, 3)
			equal(b, "the entry of an account that is another person now", len(later.Entered), 2)
		}},
	}
}

func (b *ledgerBench) bind(p redpacket.Packet, person, user string) string {
	b.Helper()
	bound, err := b.ledger.BindPerson(b.ctx, redpacket.PersonBinding{Packet: p.ID, Person: fmt.Sprintf("%032x", person), User: user, At: b.now})
	b.must(err)
	return bound
}
