package audit

import (
	"slices"
	"time"

	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/store/tables"
)

// clocksApart is more than the clock of an instance, which sets the time of a claim, can differ from that of the Pool.
const clocksApart = 10 * time.Second

// checkHold compares the shares that were held with the seed, and with the claims that were made meanwhile. It sets p.Hold, which
// checkEntries compares with the entry.
func (a *auditor) checkHold(p *auditedPacket, claims []redpacket.Paid) {
	if (p.held == "") != (p.heldUntil == 0) {
		a.report("packet", p.ID, "its columns of held shares contradict each other")
	}
	if p.held == "" {
		return
	}
	var err error
	if p.Hold, err = redpacket.ParseHold(p.held, tables.Millis(p.heldUntil)); err != nil {
		a.report("packet", p.ID, "%v", err)
		return
	}
	a.checkHeldShares(p)
	for _, c := range claims {
		i := slices.IndexFunc(p.Hold.For, func(g redpacket.Grant) bool { return g.Share == c.Share })
		if i >= 0 && p.Hold.For[i].User != c.User.ID && c.At.Before(p.Hold.Until.Add(-clocksApart)) {
			a.report("claim", p.ID, "share %d was held for another user when %s claimed it", c.Share, c.User.ID)
		}
	}
}

// checkHeldShares computes from the seed which shares are held.
func (a *auditor) checkHeldShares(p *auditedPacket) {
	var seed redpacket.Seed
	if copy(seed[:], p.seed) != len(seed) || p.Count > mostShares {
		return // it is open and encrypted, or a difference of the packet
	}
	want := proof.Held(seed, p.From.ID, p.Key, p.Count, len(p.Hold.For))
	if !slices.EqualFunc(p.Hold.For, want, func(g redpacket.Grant, share int) bool { return g.Share == share }) {
		a.report("packet", p.ID, "the shares that are held are not those that its seed, sender, key and count give")
	}
}
