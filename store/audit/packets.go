package audit

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"hongbao/redpacket"
	"hongbao/store/tables"
)

// auditedPacket is a packet row that may have been tampered with, so no value in it is trusted. It includes the packet's
// claims, ordered by share, and its two entries.
type auditedPacket struct {
	redpacket.Packet
	status               redpacket.Status
	seed                 []byte
	encrypted            bool
	erased               bool   // its words are, so it has no passphrase any more
	shares, to           string // JSON
	createdAt, expiresAt int64
	refunded             redpacket.Money
	claimed              int
	closedAt, doneSeq    sql.NullInt64
	windowS              int
	opensAt              int64
	held                 string
	heldUntil            int64
	participants, parts  int // of a draw
	wavesDrawn           int // of a rain
	root                 string
	drawnAt, drawLink    int64

	claims      string // JSON
	entry, done storedEntry
	luckiest    *redpacket.Paid // computed from the claims
}

// auditedPackets returns a query that reads one row for each packet of the scope, with its claims and entries.
func (a *auditor) auditedPackets() string {
	return `select p.id, p.room_id, p.sender, p.mode, p.spread, p.total, p.count, p.greeting, p.passphrase, p.key, p.earlier_members, p.one_per_person, p.skin,
		p.opens_at, p.held, p.held_until, p.window_s, p.rest, p.partition, p.participants, p.drawn_at, p.root, p.parts, p.draw_link, p.waves, p.max_wins, p.waves_drawn,
		p.commitment, p.status, p.seed, octet_length(p.encrypted_seed) > 0, ` + a.Shares + `, ` + a.Recipients + `,
		p.created_at, p.expires_at, p.refunded, p.claimed, p.closed_at, p.done_seq, octet_length(p.text_seal) = 32,
		` + a.Claims + `, ` + entryFields("e") + `, ` + entryFields("d") + `
	from {packets} p
	left join entries e on e.room_id = p.room_id and e.seq = p.seq and e.kind = 'packet'
	left join entries d on d.room_id = p.room_id and d.seq = p.done_seq and d.kind = 'packet_done'
	order by p.id`
}

func (p *auditedPacket) into() []any {
	return slices.Concat([]any{
		&p.ID, &p.Room, &p.From.ID, &p.Mode, &p.Spread, &p.Total, &p.Count, &p.Greeting, &p.Passphrase, &p.Key, &p.EarlierMembers, &p.OnePerPerson, &p.Skin,
		&p.opensAt, &p.held, &p.heldUntil, &p.windowS, &p.Rest, &p.Partition, &p.participants, &p.drawnAt, &p.root, &p.parts, &p.drawLink, &p.Rain.Waves, &p.Rain.MaxWins, &p.wavesDrawn,
		&p.Commitment, &p.status, &p.seed, &p.encrypted, &p.shares, &p.to,
		&p.createdAt, &p.expiresAt, &p.refunded, &p.claimed, &p.closedAt, &p.doneSeq, &p.erased,
		&p.claims,
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

// unlessZero returns a value as an entry shows it, or nil if an entry leaves it out.
func unlessZero[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}

// cutInto returns how many shares the total is cut into.
func (p *auditedPacket) cutInto() int {
	if p.parts > 0 && p.parts < p.Count {
		return p.parts
	}
	return p.Count
}

// packets compares each packet of the scope with its claims and entries. It also computes the shares from the seed again, except for
// an open packet whose seed is encrypted.
func (a *auditor) packets() error {
	return a.Each(func(row tables.Row) error {
		var p auditedPacket
		if err := row.Scan(p.into()...); err != nil {
			return err
		}
		if err := a.packet(&p); err != nil {
			return err
		}
		a.checkEntries(&p)
		return nil
	}, a.scope.Replace(a.auditedPackets()))
}

// storedClaim is one of auditedPacket.claims: [share, user, amount, 1 if it is the luckiest, time].
type storedClaim struct {
	redpacket.Paid
	luckiest bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *storedClaim) UnmarshalJSON(text []byte) error {
	var mark, at int64
	err := json.Unmarshal(text, &[]any{&c.Share, &c.User.ID, &c.Amount, &mark, &at})
	c.At = tables.Millis(at)
	c.luckiest = mark != 0
	return err
}

func (a *auditor) packet(p *auditedPacket) error {
	var (
		stored []storedClaim
		shares []redpacket.Money
		claims []redpacket.Paid
		sum    redpacket.Money
		marked = -1 // the share that is marked as the luckiest
	)
	if err := json.Unmarshal([]byte(p.claims), &stored); err != nil {
		return fmt.Errorf("read the claims of packet %s: %w", p.ID, err)
	}
	if !p.hidden() {
		shares = a.recut(p)
	}
	for _, c := range stored {
		a.checkClaim(p, c.Paid, shares)
		if c.luckiest {
			marked = c.Share
		}
		sum += c.Amount
		claims = append(claims, c.Paid)
	}
	p.luckiest = redpacket.Luckiest(p.Packet, claims)
	if p.hidden() {
		a.checkHidden(p, claims, sum)
	}
	a.checkEnd(p, claims, sum, marked)
	a.checkDraw(p)
	a.checkHold(p, claims)
	if a.asked.Show != nil {
		a.asked.Show(redpacket.AuditLine{
			Packet: p.ID, Status: p.status, Total: p.Total, Count: p.Count,
			Claims: len(claims), Claimed: sum, Refunded: p.refunded,
		})
	}
	return nil
}

// hidden reports whether the packet is open and its seed is encrypted. Its seed and shares can be checked only once it is closed.
func (p *auditedPacket) hidden() bool { return p.encrypted && p.status == redpacket.Open }

// checkHidden checks an encrypted open packet, as far as that is possible without the data key.
func (a *auditor) checkHidden(p *auditedPacket, claims []redpacket.Paid, sum redpacket.Money) {
	if len(p.seed) > 0 || p.shares != "[]" {
		a.report("packet", p.ID, "it is open and encrypted, and yet its seed or shares are in clear")
	}
	if left := p.cutInto() - len(claims); left < 0 || left == 0 && sum != p.Total || p.Total-sum < redpacket.Money(left) {
		a.report("packet", p.ID, "claims of %d leave too little of its total of %d for %d more shares", sum, p.Total, left)
	}
}

// checkClaim compares a claim with the shares of its packet. If the shares are hidden, it compares only with their number.
func (a *auditor) checkClaim(p *auditedPacket, c redpacket.Paid, shares []redpacket.Money) {
	if c.Share < 0 || c.Share >= p.cutInto() || !p.hidden() && (c.Share >= len(shares) || shares[c.Share] != c.Amount) {
		a.report("claim", p.ID, "share %d is claimed with %d, which is not how the packet was cut", c.Share, c.Amount)
	}
}

// recut computes the shares from the seed and compares them with the stored shares. It also compares the seed with its
// commitment. If it cannot compute the shares, it reports that and returns the stored ones.
func (a *auditor) recut(p *auditedPacket) []redpacket.Money {
	var seed redpacket.Seed
	if copy(seed[:], p.seed) != len(p.seed) || redpacket.Commitment(seed) != p.Commitment {
		a.report("packet", p.ID, "its seed is not the one that it was committed to")
	}
	var stored []redpacket.Money
	if err := json.Unmarshal([]byte(p.shares), &stored); err != nil {
		a.report("packet", p.ID, "its shares are no list of amounts")
	}
	if p.cutInto() != p.Count {
		return a.recutAnew(p, seed, stored)
	}
	return a.compareCut(p, seed, stored)
}

// compareCut computes the shares as the packet was sent with, and compares them with the stored ones.
func (a *auditor) compareCut(p *auditedPacket, seed redpacket.Seed, stored []redpacket.Money) []redpacket.Money {
	if len(stored) != p.Count { // computing a forged number of shares could take all memory
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

// recutAnew returns the shares of a draw that was cut anew. Such a draw keeps the shares that it was sent with, or none if it is encrypted.
func (a *auditor) recutAnew(p *auditedPacket, seed redpacket.Seed, stored []redpacket.Money) []redpacket.Money {
	if !p.encrypted || len(stored) > 0 {
		a.compareCut(p, seed, stored)
	}
	if p.parts > p.participants || p.participants > mostShares {
		a.report("packet", p.ID, "it was cut anew into %d shares for %d participants", p.parts, p.participants)
		return nil
	}
	cut := p.Packet
	cut.Count = p.parts
	shares, err := redpacket.Cut(seed, cut)
	if err != nil {
		a.report("packet", p.ID, "%v", err)
	}
	return shares
}

// mostShares is more than any packet has. Computing more could take all memory.
const mostShares = 1 << 20

// checkEnd compares the status, the refund and the counts of the packet with its claims.
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
	if (p.status == redpacket.Drained) != (len(claims) == p.cutInto()) {
		a.report("packet", p.ID, "it is %s with %d of %d shares claimed", p.status, len(claims), p.cutInto())
	}
	best := -1
	if p.luckiest != nil {
		best = p.luckiest.Share
	}
	if best != marked {
		a.report("packet", p.ID, "share %d is marked as the luckiest, not %d (-1: none)", marked, best)
	}
}
