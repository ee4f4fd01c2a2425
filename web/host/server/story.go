package server

import (
	"cmp"
	"context"
	"encoding/hex"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

func (s money) listPackets(ctx context.Context, c Caller, r *hostapi.ListPacketsRequest) (hostapi.ListPacketsReply, error) {
	limit, err := pageSize(r.Limit)
	if err != nil {
		return hostapi.ListPacketsReply{}, err
	}
	q := redpacket.PacketsQuery{
		Of: r.User, Direction: cmp.Or(redpacket.Direction(r.Direction), redpacket.DirSent), From: convert.FromMillis(r.From), To: convert.FromMillis(r.To),
		Next: r.Next, Limit: limit,
	}
	switch {
	case (r.User == "") == (r.Room == ""):
		return hostapi.ListPacketsReply{}, chat.BadField("user", "or room must be named, and not both")
	case r.Room != "" && r.Direction != "":
		return hostapi.ListPacketsReply{}, chat.BadField("direction", "is of a user's packets, not of a room's")
	case r.Room != "":
		q.Of, q.Direction = r.Room, redpacket.DirRoom
	}
	page, err := s.o.Packets.Packets(ctx, q)
	reply := hostapi.ListPacketsReply{Packets: convert.List(page.Packets, convert.PacketState), Next: page.Next}
	if !c.Key.readsTexts() {
		for i := range reply.Packets {
			reply.Packets[i].Packet.Greeting = ""
		}
	}
	return reply, err
}

func (s money) getPacket(ctx context.Context, c Caller, r *hostapi.GetPacketRequest) (hostapi.PacketStory, error) {
	story, proof, err := s.o.Packets.Story(ctx, r.Packet)
	if err != nil {
		return hostapi.PacketStory{}, err
	}
	reply := hostapi.PacketStory{
		Status: string(story.Book.Status), Refunded: int64(story.Book.Refunded), Proof: convert.Proof(proof),
		Claims:    convert.List(story.Book.Claims, packetClaimOf),
		Transfers: convert.List(story.Transfers, ledgerTransferOf), Entries: convert.List(story.Entries, convert.Entry),
		Quarantined: convert.List(story.Quarantined, quarantinedOf),
	}
	if story.Book.Packet.ID != "" {
		packet := convert.Packet(story.Book.Packet)
		reply.Packet = &packet
	}
	if !story.ClosedAt.IsZero() {
		reply.ClosedAt = convert.Millis(story.ClosedAt)
	}
	if !c.Key.readsTexts() { // the greeting, also that in the entry
		reply.Entries = []wire.Entry{}
		if reply.Packet != nil {
			reply.Packet.Greeting = ""
		}
	}
	return reply, nil
}

func packetClaimOf(p redpacket.Paid) hostapi.PacketClaim {
	return hostapi.PacketClaim{User: convert.User(p.User), Share: p.Share, Amount: int64(p.Amount), At: convert.Millis(p.At)}
}

func (s money) getCampaign(ctx context.Context, _ Caller, r *hostapi.GetPacketRequest) (hostapi.Campaign, error) {
	c, err := s.o.Packets.Campaign(ctx, r.Packet)
	if err != nil {
		return hostapi.Campaign{}, err
	}
	return hostapi.Campaign{
		Packet: convert.Packet(c.Book.Packet), Status: string(c.Book.Status), Refunded: int64(c.Book.Refunded), Proof: c.Document,
		Participants: convert.List(c.Participants, func(p redpacket.Participant) hostapi.Participant {
			return hostapi.Participant{User: p.User, At: convert.Millis(p.At), Leaf: hex.EncodeToString(p.Leaf[:])}
		}),
		Winners: convert.List(c.Book.Claims, packetClaimOf),
	}, nil
}

func (s money) getRefusals(ctx context.Context, _ Caller, r *hostapi.GetRefusalsRequest) (reply hostapi.RefusalsReply, err error) {
	limit, err := pageSize(r.Limit)
	if err != nil {
		return reply, err
	}
	switch {
	case (r.User == "") == (r.Packet == ""):
		return reply, chat.BadField("user", "or packet must be named, and not both")
	case r.User != "" && !chat.ValidUser(r.User):
		return reply, chat.BadField("user", "is no id of a user")
	case r.User != "":
		reply.Refusals, reply.Next, err = s.o.Trail.RefusalsOf(ctx, r.User, r.Next, limit)
	default:
		reply.Refusals, reply.Next, err = s.o.Trail.RefusalsAt(ctx, r.Packet, r.Next, limit)
	}
	return reply, err
}

func (s money) getQuarantine(ctx context.Context, _ Caller, r *hostapi.GetQuarantineRequest) (hostapi.QuarantineReply, error) {
	limit, err := pageSize(r.Limit)
	if err != nil {
		return hostapi.QuarantineReply{}, err
	}
	found, err := s.o.Packets.Quarantined(ctx, r.After, limit+1)
	reply := hostapi.QuarantineReply{}
	if len(found) > limit {
		found = found[:limit]
		reply.Next = found[limit-1].ID
	}
	reply.Claims = convert.List(found, quarantinedOf)
	return reply, err
}

func (s money) retryQuarantined(ctx context.Context, _ Caller, r *hostapi.RetryQuarantinedRequest) (hostapi.RetryQuarantinedReply, error) {
	q, err := s.o.Packets.RetryQuarantined(ctx, r.No)
	return hostapi.RetryQuarantinedReply{Claim: quarantinedOf(q)}, err
}

func quarantinedOf(q redpacket.Quarantined) hostapi.QuarantinedClaim {
	return hostapi.QuarantinedClaim{
		No: q.ID, At: convert.Millis(q.At), Packet: q.Packet, User: q.User, Share: q.Share, Why: q.Why, State: string(q.State),
	}
}
