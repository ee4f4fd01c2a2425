package audit

// earlyChecks find users that were in a packet before it opened. The time of a claim is by the clock of the instance, which differs from that
// of the Pool by 5 s at most, and was measured up to some seconds ago. The time of an entry is by the clock that refuses entries.
var earlyChecks = []check{
	{"claim", `select c.packet_id, format('share %s was claimed before it opened', c.share_no)
		from {packets} p join claims c on c.packet_id = p.id where p.opens_at > 0 and c.at < p.opens_at - 10000`},
	{"draw", `select n.packet_id, format('%s has entered it before it opened', n.user_id)
		from {packets} p join participants n on n.packet_id = p.id where p.opens_at > 0 and n.at < p.opens_at`},
}
