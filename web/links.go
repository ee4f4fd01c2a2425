package web

import (
	"context"
	"errors"
	"net/http"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/api"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// servePreview answers what an invite link leads to. The code of the link is the proof that the visitor may see it, so the request needs no
// token. The code is in the body, because proxies log addresses.
func (s *Server) servePreview(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "preview_link", func(ctx context.Context, data []byte) ([]byte, error) {
		if err := s.rates.SpendPreview(ctx, subnet(s.proxies.client(r))); err != nil {
			return nil, err
		}
		var request wire.PreviewLinkRequest
		if err := api.Decode(data, &request); err != nil {
			return nil, err
		}
		return encode(preview(ctx, s.chat, s.packets, &request))
	})
}

// preview returns what the link leads to. A packet that is not in the link's room is left out.
func preview(ctx context.Context, rooms *chat.Service, packets *redpacket.Service, r *wire.PreviewLinkRequest) (wire.PreviewLinkReply, error) {
	in, err := rooms.Invitation(ctx, r.Code)
	if err != nil {
		return wire.PreviewLinkReply{}, err
	}
	room := convert.Room(in.Room)
	reply := wire.PreviewLinkReply{
		Room: wire.PreviewRoom{Name: room.Name, Kind: room.Kind, Members: room.Members, Guests: room.Guests},
		By:   convert.Face(in.By), People: convert.List(in.People, convert.Face), Approval: in.Asks,
	}
	if r.Packet == "" {
		return reply, nil
	}
	packet, err := packets.Envelope(ctx, in.Room.ID, r.Packet)
	switch {
	case errors.Is(err, chat.ErrNotFound):
		return reply, nil
	case err != nil:
		return wire.PreviewLinkReply{}, err
	}
	reply.Packet = &wire.PreviewPacket{From: convert.Face(packet.From), Greeting: packet.Greeting}
	return reply, nil
}
