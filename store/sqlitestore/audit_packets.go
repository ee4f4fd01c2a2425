package sqlitestore

import (
	"database/sql"
	"encoding/json"
	"slices"

	"hongbao/redpacket"
)

// auditedPacket is a packet row. It may have been changed by hand, so no value in it is trusted.
type auditedPacket struct {
	redpacket.Packet
	status    redpacket.Status
	seed      []byte
	encrypted bool
	shares    string
	refunded  redpacket.Money
	claimed   int
}

const auditedColumns = `id, sender, mode, spread, total, count, key, commitment, status, seed, encrypted_seed <> x'', shares, refunded, claimed`

func (p *auditedPacket) into() []any {
	return []any{
		&p.ID, &p.From.ID, &p.Mode, &p.Spread, &p.Total, &p.Count, &p.Key, &p.Commitment,
		&p.status, &p.seed, &p.encrypted, &p.shares, &p.refunded, &p.claimed,
	}
}

// packets computes the shares of each packet from its seed again, and compares the packet with its claims.
func (a *auditor) packets() error {
	return a.each(`select `+auditedColumns+` from `+a.scope.Replace("{packets}")+` p order by id`, func(rs *sql.Rows) error {
		var p auditedPacket
		if err := rs.Scan(p.into()...); err != nil {
			return err
		}
		return a.packet(&p)
	})
}

func (a *auditor) packet(p *auditedPacket) error {
	var (
		shares []redpacket.Money
		claims []redpacket.Paid
		sum    redpacket.Money
		marked = -1 // the share that is marked as the luckiest
	)
	if !p.hidden() {
		shares = a.recut(p)
	}
	err := a.each(`select share_no, amount, luckiest from claims where packet_id = ? order by share_no`, func(rs *sql.Rows) error {
		var (
			c    redpacket.Paid
			mark int
		)
		if err := rs.Scan(&c.Share, &c.Amount, &mark); err != nil {
			return err
		}
		a.checkClaim(p, c, shares)
		if mark != 0 {
			marked = c.Share
		}
		sum += c.Amount
		claims = append(claims, c)
		return nil
	}, p.ID)
	if err != nil {
		return err
	}
	if p.hidden() {
		a.checkHidden(p, claims, sum)
	}
	a.finalState(p, claims, sum, marked)
	if a.asked.Show != nil {
		a.asked.Show(redpacket.AuditLine{
			Packet: p.ID, Status: p.status, Total: p.Total, Count: p.Count,
			Claims: len(claims), Claimed: sum, Refunded: p.refunded,
		})
	}
	return nil
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
	if len(stored) != p.Count { // dividing by a forged count could exhaust the memory
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

// finalState compares the packet's final state with its claims.
func (a *auditor) finalState(p *auditedPacket, claims []redpacket.Paid, sum redpacket.Money, marked int) {
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
	if l := redpacket.Luckiest(p.Packet, claims); l != nil {
		best = l.Share
	}
	if best != marked {
		a.report("packet", p.ID, "share %d is marked as the luckiest, not %d (-1: none)", marked, best)
	}
}
