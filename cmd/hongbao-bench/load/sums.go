package load

import (
	"context"
	"errors"

	"hongbao/web/wire"
)

// addUp compares the answers with the stored claims.
func (c *group) addUp(ctx context.Context) error {
	answered := c.open.Load() == 0
	return each(ctx, c.packetLogs, func(ctx context.Context, _ int, p *packetLog) error {
		stored := map[string]share{}
		for rank := 0; ; {
			var page wire.PacketReply
			if err := c.target.command(ctx, p.owner, "packet", wire.PacketRequest{Packet: p.id, AfterRank: rank, Limit: 100}, &page); err != nil {
				return err
			}
			for _, claim := range page.Claims {
				if _, twice := stored[claim.User.ID]; twice || claim.Rank <= rank {
					c.checks.fault(checkShare, "packet %s: %s is stored with share %d after share %d", p.id, claim.User.ID, claim.Rank, rank)
				}
				stored[claim.User.ID], rank = share{claim.Amount, claim.Rank}, claim.Rank
			}
			if !page.More {
				p.add(stored, page.State.Status == "drained", answered, c.checks)
				return nil
			}
			if len(page.Claims) == 0 {
				return errors.New("an empty page of claims says that more follow")
			}
		}
	})
}
