package load

import (
	"context"
	"maps"
	"slices"

	"hongbao/web/wire"
)

// sendPackets funds the senders and sends the packets that the plan needs.
func (c *group) sendPackets(ctx context.Context) error {
	total := int64(shareOnAverage * c.plan.Shares)
	c.packetLogs = make([]*packetLog, c.plan.packets())
	purses := map[*user]int64{}
	for i := range c.packetLogs {
		purses[c.sender(i)] += total
	}
	err := each(ctx, slices.Collect(maps.Keys(purses)), func(ctx context.Context, _ int, u *user) error {
		return c.target.credit(ctx, u.id, purses[u], c.key("credit", u.number))
	})
	if err != nil {
		return err
	}
	count, ttl := c.plan.Shares, packetTTL
	return each(ctx, c.packetLogs, func(ctx context.Context, i int, _ *packetLog) error {
		var made wire.SendPacketReply
		u := c.sender(i)
		err := c.target.command(ctx, u, "send_packet", wire.SendPacketRequest{
			Room: c.rooms[i%len(c.rooms)].id, Key: c.key("packet", i), Total: total, Count: &count, TTLS: &ttl,
		}, &made)
		c.packetLogs[i] = newPacketLog(made.Packet.ID, u, total, count)
		return err
	})
}

// sender returns the sender of a packet, a member of its room.
func (c *group) sender(packet int) *user {
	return c.member(packet, packet/len(c.rooms)%min(c.grabbers(), max(1, richUsers/len(c.rooms))))
}

// grabbers returns the number of users that may grab each packet.
func (c *group) grabbers() int { return len(c.users) / len(c.rooms) }

// member returns the n-th member of the packet's room.
func (c *group) member(packet, number int) *user {
	return c.users[number*len(c.rooms)+packet%len(c.rooms)]
}
