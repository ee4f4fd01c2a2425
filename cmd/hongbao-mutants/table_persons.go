package main

// personMutants are about packets that pay one share a person.
var personMutants = []mutant{
	{
		file:  "redpacket/persons.go",
		old:   `case bound != r.User:`,
		new:   `case false:`,
		tests: "-run=Person ./redpacket",
		harm:  "a person gets a share with each account",
	},
	{
		file:  "redpacket/persons.go",
		old:   `if !k.packet.OnePerPerson || a.May != MayGrab {`,
		new:   `if !k.packet.OnePerPerson {`,
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
		old:   `case other != u.User:`,
		new:   `case false:`,
		tests: "-run=APersonEntersADrawOnce ./redpacket",
		harm:  "a person takes part in a draw with each account",
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
