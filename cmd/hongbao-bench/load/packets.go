package load

import (
	"context"
	"maps"
	"slices"

	"hongbao/web/wire"
)

// sendPackets gives some money to those who send, and has them send what the plan needs.
func (c *crew) sendPackets(ctx context.Context) error {
	total := int64(shareOnAverage * c.plan.Shares)
	c.pots = make([]*pot, c.plan.packets())
	purses := map[*user]int64{}
	for i := range c.pots {
		purses[c.sender(i)] += total
	}
	if c.target.Passes.Admin != "" {
		err := each(ctx, slices.Collect(maps.Keys(purses)), func(ctx context.Context, _ int, u *user) error {
			return c.target.credit(ctx, u.id, purses[u], c.key("credit", u.number))
		})
		if err != nil {
			return err
		}
	}
	count, ttl := c.plan.Shares, packetTTL
	return each(ctx, c.pots, func(ctx context.Context, i int, _ *pot) error {
		var made wire.SendPacketReply
		u := c.sender(i)
		err := c.target.command(ctx, u, "send_packet", wire.SendPacketRequest{
			Room: c.rooms[i%len(c.rooms)].id, Key: c.key("packet", i), Total: total, Count: &count, TTLS: &ttl,
		}, &made)
		c.pots[i] = newPot(made.Packet.ID, u, total, count)
		return err
	})
}

// sender of a packet: somebody in its room.
func (c *crew) sender(packet int) *user {
	return c.member(packet, packet/len(c.rooms)%min(c.grabbers(), max(1, richUsers/len(c.rooms))))
}

// grabbers of each packet.
func (c *crew) grabbers() int { return len(c.users) / len(c.rooms) }

// member of the room that a packet is in, by number.
func (c *crew) member(packet, number int) *user {
	return c.users[number*len(c.rooms)+packet%len(c.rooms)]
}
