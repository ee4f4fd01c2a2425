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
		{"person/many persons in one call", func(b *ledgerBench) {
			p := b.packet(10, 2)
			b.bind(p, "mei", member(0))
			var users []redpacket.Entrant
			for i, person := range []string{"mei", "ann", "ann", "bob"} {
				users = append(users, redpacket.Entrant{User: member(i + 1), Person: person})
			}
			want := map[string]string{"mei": member(0), "ann": member(2), "bob": member(4)}
			for range 2 {
				bound, err := b.ledger.BindPersons(b.ctx, p.ID, users, b.now)
				b.must(err)
				equal(b, "bound", bound, want)
			}
		}},
		{"person/many calls for the same persons at once", func(b *ledgerBench) {
			p := b.packet(10, 2)
			all := make([]map[string]string, members)
			together(members, func(i int) {
				var users []redpacket.Entrant
				for n := range 50 {
					users = append(users, redpacket.Entrant{User: member(i), Person: fmt.Sprint("person ", (n+7*i)%50)})
				}
				var err error
				all[i], err = b.ledger.BindPersons(b.ctx, p.ID, users, b.now)
				b.must(err)
			})
			for i := range all {
				equal(b, "bound", all[i], all[0])
			}
		}},
		{"person/only users to whom a person is bound are paid", func(b *ledgerBench) {
			o := b.order(sender, 1000, 4)
			o.Packet.OnePerPerson = true
			p := b.send(o).Packet
			b.bind(p, "mei", member(0))
			b.unchanged(func() {
				b.verdicts(b.settle(b.claim(p, member(1), 0), b.claim(p, member(2), 9)), redpacket.Unbound, redpacket.Unpayable)
			})
			b.verdicts(b.settle(b.claim(p, member(1), 0), b.claim(p, member(0), 1)), redpacket.Unbound, redpacket.PaidNow)
			b.verdicts(b.settle(b.claim(p, member(0), 2), b.claim(p, member(1), 1)), redpacket.Duplicate, redpacket.Conflict)
			b.bind(p, "ann", member(1))
			b.verdict(redpacket.PaidNow, b.claim(p, member(1), 0))
			b.bind(p, "bob", member(2))
			closed := b.close(p, redpacket.Expired, redpacket.Grant{User: member(0), Share: 1}, redpacket.Grant{User: member(2), Share: 2}, redpacket.Grant{User: member(3), Share: 3})
			equal(b, "inserted", len(closed.Inserted), 1)
			equal(b, "claims", len(closed.Book.Claims), 3)
			equal(b, "refund", closed.Book.Refunded, closed.Book.Shares[3])
			b.verdict(redpacket.TooLate, b.claim(p, member(3), 3))
		}},
		{"person/a grant in place of a paid one needs a person, too", func(b *ledgerBench) {
			o := b.order(sender, 1000, 4)
			o.Packet.OnePerPerson = true
			p := b.send(o).Packet
			b.bind(p, "mei", member(0))
			b.verdict(redpacket.PaidNow, b.claim(p, member(0), 0))
			closed := b.close(p, redpacket.Expired, redpacket.Grant{User: member(1), Share: 1}) // as many grants as claims
			equal(b, "inserted", len(closed.Inserted), 0)
			equal(b, "claims", len(closed.Book.Claims), 1)
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
	bound, err := b.ledger.BindPersons(b.ctx, p.ID, []redpacket.Entrant{{User: user, Person: person}}, b.now)
	b.must(err)
	return bound[person]
}
