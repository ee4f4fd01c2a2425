package pgstore

import (
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"hongbao/chat"
	"hongbao/redpacket"
)

// auditedPacket is a packet row that may have been tampered with, so no value in it is trusted. It includes the packet's
// claims, by share, and its two entries.
type auditedPacket struct {
	redpacket.Packet
	status               redpacket.Status
	seed                 []byte
	encrypted            bool
	shares, to           string // JSON
	createdAt, expiresAt int64
	refunded             redpacket.Money
	claimed              int
	closedAt, doneSeq    pgtype.Int8

	claimShares  []int
	claimUsers   []string
	claimAmounts []redpacket.Money
	marked       []bool
	entry, done  storedEntry
	luckiest     *redpacket.Paid // computed from the claims
}

// auditQuery returns one row for each packet, with all related data. One query must suffice, because a connection can
// read only one result at a time.
var auditQuery = `select p.id, p.room_id, p.sender, p.mode, p.spread, p.total, p.count, p.greeting, p.passphrase, p.key, p.earlier_members, p.skin,
		p.commitment, p.status, p.seed, p.encrypted_seed <> '', array_to_json(p.shares)::text, array_to_json(p.recipients)::text,
		p.created_at, p.expires_at, p.refunded, p.claimed, p.closed_at, p.done_seq,
		c.shares, c.users, c.amounts, c.marked, ` + entryFields("e") + `, ` + entryFields("d") + `
	from {packets} p
	left join lateral (
		select array_agg(share_no) as shares, array_agg(user_id) as users, array_agg(amount) as amounts, array_agg(luckiest) as marked
		from (select share_no, user_id, amount, luckiest from claims where packet_id = p.id order by share_no) c) c on true
	left join entries e on e.room_id = p.room_id and e.seq = p.seq and e.kind = 'packet'
	left join entries d on d.room_id = p.room_id and d.seq = p.done_seq and d.kind = 'packet_done'
	order by p.id`

func (p *auditedPacket) into() []any {
	return slices.Concat([]any{
		&p.ID, &p.Room, &p.From.ID, &p.Mode, &p.Spread, &p.Total, &p.Count, &p.Greeting, &p.Passphrase, &p.Key, &p.EarlierMembers, &p.Skin,
		&p.Commitment, &p.status, &p.seed, &p.encrypted, &p.shares, &p.to,
		&p.createdAt, &p.expiresAt, &p.refunded, &p.claimed, &p.closedAt, &p.doneSeq,
		&p.claimShares, &p.claimUsers, &p.claimAmounts, &p.marked,
	}, p.entry.into(), p.done.into())
}

// recipients returns the recipients as an entry lists them, or nil for none.
func (p *auditedPacket) recipients() any {
	var to []any
	if json.Unmarshal([]byte(p.to), &to) != nil || len(to) == 0 {
		return nil
	}
	return to
}

// earlierMembers returns the option as an entry shows it, or nil if it is off.
func (p *auditedPacket) earlierMembers() any {
	if p.EarlierMembers {
		return true
	}
	return nil
}

// skin returns the skin as an entry shows it, or nil for the plain envelope.
func (p *auditedPacket) skin() any {
	if p.Skin != "" {
		return string(p.Skin)
	}
	return nil
}

// packets computes the shares of each packet from its seed again, and compares the packet with its claims and
// entries.
func (a *auditor) packets() error {
	return a.each(a.scope.Replace(auditQuery), func(rs pgx.Rows) error {
		var p auditedPacket
		if err := rs.Scan(p.into()...); err != nil {
			return err
		}
		a.packet(&p)
		a.checkEntries(&p)
		return nil
	})
}

func (a *auditor) packet(p *auditedPacket) {
	var (
		shares []redpacket.Money
		claims []redpacket.Paid
		sum    redpacket.Money
		marked = -1 // the share that is marked as the luckiest
	)
	if !p.hidden() {
		shares = a.recut(p)
	}
	for i, share := range p.claimShares {
		c := redpacket.Paid{Share: share, User: chat.User{ID: p.claimUsers[i]}, Amount: p.claimAmounts[i]}
		a.checkClaim(p, c, shares)
		if p.marked[i] {
			marked = c.Share
		}
		sum += c.Amount
		claims = append(claims, c)
	}
	p.luckiest = redpacket.Luckiest(p.Packet, claims)
	if p.hidden() {
		a.checkHidden(p, claims, sum)
	}
	a.checkEnd(p, claims, sum, marked)
	if a.asked.Show != nil {
		a.asked.Show(redpacket.AuditLine{
			Packet: p.ID, Status: p.status, Total: p.Total, Count: p.Count,
			Claims: len(claims), Claimed: sum, Refunded: p.refunded,
		})
	}
}

// hidden reports whether seed and shares are encrypted. They can be checked only once the packet is closed.
func (p *auditedPacket) hidden() bool { return p.encrypted && p.status == redpacket.Open }

// checkHidden checks what can be told of an encrypted open packet without the data key.
func (a *auditor) checkHidden(p *auditedPacket, claims []redpacket.Paid, sum redpacket.Money) {
	if len(p.seed) > 0 || p.shares != "[]" {
		a.report("packet", p.ID, "it is open and encrypted, and yet its seed or shares are in clear")
	}
	if left := p.Count - len(claims); left < 0 || left == 0 && sum != p.Total || p.Total-sum < redpacket.Money(left) {
		a.report("packet", p.ID, "claims of %d leave too little of its total of %d for %d more shares", sum, p.Total, left)
	}
}

// checkClaim compares a claim with the shares of its packet, or only with their number if these are hidden.
func (a *auditor) checkClaim(p *auditedPacket, c redpacket.Paid, shares []redpacket.Money) {
	if c.Share < 0 || c.Share >= p.Count || !p.hidden() && (c.Share >= len(shares) || shares[c.Share] != c.Amount) {
		a.report("claim", p.ID, "share %d is claimed with %d, which is not how the packet was cut", c.Share, c.Amount)
	}
}

// recut returns the shares that the seed gives. It reports a difference if the stored shares are others.
func (a *auditor) recut(p *auditedPacket) []redpacket.Money {
	var seed redpacket.Seed
	if copy(seed[:], p.seed) != len(p.seed) || redpacket.Commitment(seed) != p.Commitment {
		a.report("packet", p.ID, "its seed is not the one that it was committed to")
	}
	var stored []redpacket.Money
	if err := json.Unmarshal([]byte(p.shares), &stored); err != nil {
		a.report("packet", p.ID, "its shares are no list of amounts")
	}
	if len(stored) != p.Count { // dividing by a forged count could take all memory
		a.report("packet", p.ID, "it has %d shares, not %d", len(stored), p.Count)
		return stored
	}
	shares, err := redpacket.Cut(seed, p.Packet)
	if err != nil {
		a.report("packet", p.ID, "%v", err)
		return stored
	}
	if !slices.Equal(stored, shares) {
		a.report("packet", p.ID, "its shares are not what its seed, sender, key, mode, spread, total and count give")
	}
	return shares
}

// checkEnd compares the status of the packet with its claims.
func (a *auditor) checkEnd(p *auditedPacket, claims []redpacket.Paid, sum redpacket.Money, marked int) {
	if p.status == redpacket.Open {
		if p.refunded != 0 || p.claimed != 0 || marked >= 0 {
			a.report("packet", p.ID, "it is open, and yet refunded, counted or with a luckiest share")
		}
		if sum > p.Total {
			a.report("packet", p.ID, "claims of %d exceed its total of %d", sum, p.Total)
		}
		return
	}
	if sum+p.refunded != p.Total {
		a.report("packet", p.ID, "claims of %d and a refund of %d do not make its total of %d", sum, p.refunded, p.Total)
	}
	if p.claimed != len(claims) {
		a.report("packet", p.ID, "it counts %d claims, and has %d", p.claimed, len(claims))
	}
	if (p.status == redpacket.Drained) != (len(claims) == p.Count) {
		a.report("packet", p.ID, "it is %s with %d of %d shares claimed", p.status, len(claims), p.Count)
	}
	best := -1
	if p.luckiest != nil {
		best = p.luckiest.Share
	}
	if best != marked {
		a.report("packet", p.ID, "share %d is marked as the luckiest, not %d (-1: none)", marked, best)
	}
}
