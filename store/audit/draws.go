package audit

import (
	"encoding/hex"

	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/store/tables"
)

// drawChecks compare draws, their participants and their claims as far as SQL can.
var drawChecks = []check{
	{"draw", `select n.packet_id, format('%s has entered it, and it is no draw', n.user_id)
		from participants n left join packets p on p.id = n.packet_id and p.window_s > 0 where p.id is null`},
	{"draw", `select p.id, format('it counts %s participants, and has %s', p.participants, coalesce(n.n, 0))
		from {packets} p left join (select packet_id, count(*) as n from participants
			where packet_id in (select id from {packets} d where window_s > 0) group by packet_id) n on n.packet_id = p.id
		where p.participants <> coalesce(n.n, 0)`},
	{"draw", `select p.id, format('share %s was paid to %s, who has not entered', c.share_no, c.user_id)
		from {packets} p join claims c on c.packet_id = p.id left join participants n on n.packet_id = p.id and n.user_id = c.user_id
		where p.window_s > 0 and (n.user_id is null or p.drawn_at = 0)`},
}

// drawRows reads the participants of draws, each with the share that was paid to it, or -1. The rows of a draw follow one another, ordered by
// leaf.
const drawRows = `select p.id, p.root, p.commitment, p.seed, p.participants, p.parts, p.rest, p.count, p.sender, p.key,
		p.status, p.drawn_at > 0, p.drawn_at < p.expires_at,
		n.user_id, n.leaf, coalesce(c.share_no, -1)
	from {packets} p join participants n on n.packet_id = p.id left join claims c on c.packet_id = n.packet_id and c.user_id = n.user_id
	order by p.id, n.leaf`

// auditedDraw is a draw with its participants. No value in it is trusted.
type auditedDraw struct {
	packet       redpacket.Packet
	root         string
	seed         []byte
	participants int
	parts        int
	status       redpacket.Status
	drawn        bool // entering has ended
	early        bool // it was drawn before its window had ended
	users        []string
	leaves       []proof.Hash
	shares       []int // paid to the participants; -1: none
}

// draws computes the leaves and the root of each draw of the scope again, and, if the seed is known, the winners.
func (a *auditor) draws() error {
	if err := a.readQuarantined(); err != nil {
		return err
	}
	var d auditedDraw
	err := a.Each(func(row tables.Row) error {
		var (
			next       auditedDraw
			user, leaf string
			share      int
		)
		p := &next.packet
		if err := row.Scan(&p.ID, &next.root, &p.Commitment, &next.seed, &next.participants, &next.parts, &p.Rest, &p.Count, &p.From.ID, &p.Key, &next.status, &next.drawn, &next.early,
			&user, &leaf, &share); err != nil {
			return err
		}
		if p.ID != d.packet.ID {
			a.draw(&d)
			d = next
		}
		hash := proof.Leaf(p.From.ID, p.Key, 0, user)
		if leaf != hex.EncodeToString(hash[:]) {
			a.report("draw", p.ID, "the leaf of %s is not that of the user", user)
		}
		d.users, d.leaves, d.shares = append(d.users, user), append(d.leaves, hash), append(d.shares, share)
		return nil
	}, a.scope.Replace(drawRows))
	a.draw(&d)
	return err
}

// checkDraw compares the columns of a draw with each other. A packet that is no draw has none of them.
func (a *auditor) checkDraw(p *auditedPacket) {
	draw, drawn := p.windowS > 0, p.drawnAt > 0
	if p.IsDraw() != draw || (p.Rest != "") != draw || !draw && (drawn || p.participants != 0) ||
		draw && p.status != redpacket.Open && !drawn || !drawn && (p.root != "" || p.parts != 0) || (p.drawLink != 0) != drawn {
		a.report("draw", p.ID, "its columns of a draw contradict each other")
	}
	if none := proof.Root(nil); drawn && p.participants == 0 && p.root != hex.EncodeToString(none[:]) { // drawRows has no row of it
		a.report("draw", p.ID, "its root is not that of its participants")
	}
}

func (a *auditor) draw(d *auditedDraw) {
	if !d.drawn {
		return
	}
	root := proof.Root(d.leaves)
	if d.root != hex.EncodeToString(root[:]) {
		a.report("draw", d.packet.ID, "its root is not that of its participants")
	}
	if want := d.packet.Parts(d.participants); d.parts != want && (d.parts != 0 || !d.early) {
		a.report("draw", d.packet.ID, "its total was cut into %d shares, which does not fit %d participants", d.parts, d.participants)
	}
	var seed redpacket.Seed
	if copy(seed[:], d.seed) != len(seed) {
		return // it is open and encrypted, or a difference of the packet
	}
	shares := d.packet.Count
	if d.parts > 0 {
		shares = d.parts
	}
	for place, i := range proof.Order(seed, d.packet.From.ID, d.packet.Key, 0, d.leaves) {
		switch share := d.shares[i]; {
		case share >= 0 && share != place:
			a.report("draw", d.packet.ID, "share %d was paid to the participant that is drawn at place %d", share, place)
		case share < 0 && place < shares && d.status != redpacket.Open && !a.quarantined[[2]string{d.packet.ID, d.users[i]}]:
			a.report("draw", d.packet.ID, "%s has won share %d, and was not paid", d.users[i], place)
		}
	}
}

// readQuarantined reads whose claims are in quarantine, by packet and user.
func (a *auditor) readQuarantined() error {
	a.quarantined = map[[2]string]bool{}
	return a.Each(func(row tables.Row) error {
		var packet, user string
		err := row.Scan(&packet, &user)
		a.quarantined[[2]string{packet, user}] = true
		return err
	}, `select packet_id, user_id from quarantine`)
}
