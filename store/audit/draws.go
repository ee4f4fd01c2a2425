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
		from {packets} p join claims c on c.packet_id = p.id left join participants n on n.packet_id = p.id and n.user_id = c.user_id and n.wave = c.wave
		where p.window_s > 0 and (n.user_id is null or p.drawn_at = 0 and p.waves_drawn < c.wave or p.drawn_at = 0 and p.waves = 0)
			or p.window_s = 0 and c.wave <> 0`},
	{"draw", `select n.packet_id, format('%s has entered wave %s of it, which it does not have', n.user_id, n.wave)
		from {packets} p join participants n on n.packet_id = p.id
		where case when p.waves > 0 then n.wave < 1 or n.wave > p.waves else n.wave <> 0 end`},
	{"draw", `select p.id, format('it counts %s waves, and has %s', p.waves_drawn, coalesce(w.n, 0))
		from {packets} p left join (select packet_id, count(*) as n from rain_waves group by packet_id) w on w.packet_id = p.id
		where p.waves_drawn <> coalesce(w.n, 0)`},
	{"draw", `select w.packet_id, format('it has a wave %s, and is no rain', w.wave)
		from rain_waves w left join packets p on p.id = w.packet_id and p.waves > 0 where p.id is null`},
}

// drawRows reads the participants of draws, each with the share that was paid to it, or -1. The rows of a draw or wave follow one another,
// ordered by leaf.
const drawRows = `select p.id, p.root, p.commitment, p.seed, p.participants, p.parts, p.rest, p.count, p.sender, p.key,
		p.status, p.drawn_at > 0, p.drawn_at < p.expires_at, p.window_s, p.expires_at, p.waves, p.max_wins,
		n.wave, n.user_id, n.leaf, n.at, coalesce(c.share_no, -1)
	from {packets} p join participants n on n.packet_id = p.id
		left join claims c on c.packet_id = n.packet_id and c.user_id = n.user_id and c.wave = n.wave
	order by p.id, n.wave, n.leaf`

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
	windowS      int
	wave         int
	entered      []int64 // when the users have entered
	users        []string
	leaves       []proof.Hash
	shares       []int // paid to the participants; -1: none
}

// draws computes the leaves and the root of each draw of the scope again, and, if the seed is known, the winners.
func (a *auditor) draws() error {
	if err := a.readQuarantined(); err != nil {
		return err
	}
	next, stop := a.wavesInOrder()
	defer stop()
	a.nextWave = next
	var err error
	if a.ahead, err = next(); err != nil {
		return err
	}
	var d auditedDraw
	for row, err := range stream(a.Snapshot, "drawn", a.scope.Replace(drawRows), scanDrawRow) {
		if err != nil {
			return err
		}
		if row.packet.ID != d.packet.ID || row.wave != d.wave {
			if err := a.draw(&d); err != nil {
				return err
			}
			d = row.auditedDraw
		}
		p := &row.packet
		hash := proof.Leaf(p.From.ID, p.Key, uint32(row.wave), row.user)
		if row.leaf != hex.EncodeToString(hash[:]) {
			a.report("draw", p.ID, "the leaf of %s is not that of the user", row.user)
		}
		d.users, d.leaves, d.shares, d.entered = append(d.users, row.user), append(d.leaves, hash), append(d.shares, row.share), append(d.entered, row.at)
	}
	return a.draw(&d)
}

// drawRow is a row of drawRows.
type drawRow struct {
	auditedDraw
	user, leaf string
	at         int64
	share      int
}

func scanDrawRow(row tables.Row) (r drawRow, err error) {
	p := &r.packet
	err = row.Scan(&p.ID, &r.root, &p.Commitment, &r.seed, &r.participants, &r.parts, &p.Rest, &p.Count, &p.From.ID, &p.Key, &r.status, &r.drawn, &r.early,
		&r.windowS, tables.Time(&p.ExpiresAt), &p.Rain.Waves, &p.Rain.MaxWins, &r.wave, &r.user, &r.leaf, &r.at, &r.share)
	return r, err
}

// checkDraw compares the columns of a draw with each other. A packet that is no draw has none of them.
func (a *auditor) checkDraw(p *auditedPacket) {
	draw, drawn := p.windowS > 0, p.drawnAt > 0
	if p.IsDraw() != draw || (p.Rest != "") != draw || !draw && (drawn || p.participants != 0) ||
		draw && p.status != redpacket.Open && !drawn || !drawn && (p.root != "" || p.parts != 0) || (p.drawLink != 0) != drawn ||
		!draw && (p.Rain != redpacket.Rain{} || p.wavesDrawn != 0) || p.Rain.Waves == 0 && (p.Rain.MaxWins != 0 || p.wavesDrawn != 0) ||
		p.Rain.Waves != 0 && p.parts != 0 {
		a.report("draw", p.ID, "its columns of a draw contradict each other")
	}
	if none := proof.Root(nil); drawn && p.participants == 0 && p.wavesDrawn == 0 && p.root != hex.EncodeToString(none[:]) { // drawRows has no row of it
		a.report("draw", p.ID, "its root is not that of its participants")
	}
}

func (a *auditor) draw(d *auditedDraw) error {
	if d.packet.Rain.Waves > 0 {
		return a.wave(d)
	}
	if !d.drawn {
		return nil
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
		return nil // it is open and encrypted, or a difference of the packet
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
	return nil
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
