package audit

// personChecks find users that got a share, or take part, in packets that pay one share a person, without being the one account of a person.
// As a person has one account in a packet, no person has two shares.
var personChecks = []check{
	{"packet", `select p.id, format('share %s was paid to %s, to whom no person is bound', c.share_no, c.user_id)
		from {packets} p join claims c on c.packet_id = p.id left join persons n on n.packet_id = p.id and n.user_id = c.user_id
		where p.one_per_person and n.user_id is null`},
	{"draw", `select p.id, format('%s has entered it, and no person is bound to that user', m.user_id)
		from {packets} p join participants m on m.packet_id = p.id left join persons n on n.packet_id = p.id and n.user_id = m.user_id
		where p.one_per_person and n.user_id is null`},
}
