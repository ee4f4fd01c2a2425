package main

// personMutants are about packets that pay one share a person.
var personMutants = []mutant{
	{
		file:  "redpacket/persons.go",
		old:   `case bound != a.User:`,
		new:   `case false:`,
		tests: "-run=Person ./redpacket",
		harm:  "a person gets a share with each account",
	},
	{
		file:  "redpacket/persons.go",
		old:   `if a.May == MayGrab {`,
		new:   `if true {`,
		tests: "-run=ARefusedUserIsNotTheAccount ./redpacket",
		harm:  "a user without the passphrase takes the share of a person from the other account",
	},
	{
		file:  "redpacket/persons.go",
		old:   `p.ID, kind, person)`,
		new:   `kind, person)`,
		tests: "-run=PersonsAreNotStored ./redpacket",
		harm:  "whoever reads the database follows a person from packet to packet",
	},
	{
		file:  "store/tables/persons.go",
		old:   `return other != u.User`,
		new:   `return false`,
		tests: "-run=APersonEntersADrawOnce ./redpacket",
		harm:  "a person takes part in a draw with each account",
	},
	{
		file:  "store/tables/persons.go",
		old:   `known := bound[u.Person]; !known {`,
		new:   `known := bound[u.Person]; true || known {`,
		tests: "-run=^TestLedger$/^person ./store/sqlitestore",
		harm:  "a person is bound to another account of the same call",
	},
	{
		file:  "store/sqlitestore/settle.go",
		old:   `if status == redpacket.Open && bound {`,
		new:   `if status == redpacket.Open && (bound || true) {`,
		tests: "-run=LostBinding ./redpacket",
		harm:  "two accounts of a person are paid after the database has lost which of them is bound",
	},
	{
		file:  "redpacket/flow.go",
		old:   `case Unpayable, Unbound:`,
		new:   `case Unpayable:`,
		tests: "-run=LostBinding ./redpacket",
		harm:  "no operator learns of a grant that was refused",
	},
	{
		file:  "redpacket/flow.go",
		old:   `return v, errUnbound`,
		new:   `return v, fmt.Errorf("not bound: %w", chat.ErrUnavailable)`,
		tests: "-run=LostBinding ./redpacket",
		harm:  "a user never gets the share after the database has lost who the person is",
	},
	{
		file:  "redpacket/together.go",
		old:   `!busy && !q`,
		new:   `(true || busy) && !q`,
		tests: "-run=ABurstBinds ./redpacket",
		harm:  "each user of a burst has a transaction of its own",
	},
	{
		file:  "store/audit/persons.go",
		old:   `left join persons n on n.packet_id = p.id and n.user_id = c.user_id`,
		new:   `left join claims n on n.packet_id = p.id and n.user_id = c.user_id`,
		tests: "-run=^TestAudit$ ./store/sqlitestore",
		harm:  "the audit misses a second share of a person",
	},
	{
		file:  "web/user/session/session.go",
		old:   `s.person, s.admin, s.issued = identity.Person,`,
		new:   `s.person, s.admin, s.issued = "",`,
		tests: "-run=PersonOfTheTokenGrabs ./web",
		harm:  "the person of a token does not count on sockets",
	},
}
