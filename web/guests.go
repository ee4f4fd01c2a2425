package web

import (
	"context"
	"errors"
	"net/http"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/user/guest"
	"hongbao/web/wire"
)

// Guests configures guests: users that have no account with the host.
type Guests = guest.Options

// guestRequests answers the requests that create guests, sign them in and out, renew their tokens, make device codes, and change
// profiles.
type guestRequests struct {
	guests       *guest.Service
	chat         *chat.Service
	rates        *api.Rates
	proxies      proxies
	origins      origins
	serve        func(w http.ResponseWriter, r *http.Request, method string, answer func(context.Context, []byte) ([]byte, error))
	authenticate func(ctx context.Context, r *http.Request, token string) (auth.Identity, error)
	revoke       func(ctx context.Context, user string) error
	renamed      func(ctx context.Context, user string)
}

func newGuestRequests(s *Server) guestRequests {
	return guestRequests{
		guests: s.guests, chat: s.chat, rates: s.rates, proxies: s.proxies, origins: s.origins, serve: s.serve, authenticate: s.authenticate, revoke: s.revoke,
		renamed: s.sessions.Renamed,
	}
}

// create creates a guest and returns their token. The request needs no token.
func (g guestRequests) create(w http.ResponseWriter, r *http.Request) {
	g.serve(w, r, "guests", func(ctx context.Context, data []byte) ([]byte, error) {
		var request wire.GuestRequest
		if err := g.newcomer(ctx, r, data, &request); err != nil {
			return nil, err
		}
		return encode(g.guests.Make(ctx, &request))
	})
}

// redeem signs a guest in by a device code. The request needs no token.
func (g guestRequests) redeem(w http.ResponseWriter, r *http.Request) {
	g.serve(w, r, "redeem", func(ctx context.Context, data []byte) ([]byte, error) {
		var request wire.RedeemRequest
		if err := g.newcomer(ctx, r, data, &request); err != nil {
			return nil, err
		}
		return encode(g.guests.Redeem(ctx, &request))
	})
}

// newcomer decodes a request that needs no token, and counts it against the limit of its address. It returns chat.ErrNotFound if
// guests are disabled, and chat.ErrForbidden for a page that may not call the server: such a page must not use up the limit of its visitors.
func (g guestRequests) newcomer(ctx context.Context, r *http.Request, data []byte, request any) error {
	if !g.guests.On() {
		return chat.ErrNotFound
	}
	if !g.origins.allowed(r) {
		return chat.ErrForbidden
	}
	if err := g.rates.SpendGuest(ctx, subnet(g.proxies.client(r))); err != nil {
		return err
	}
	return api.Decode(data, request)
}

// byGuest answers a request that only guests may make. The request must carry a guest's token.
func (g guestRequests) byGuest(method string, answer func(ctx context.Context, guest auth.Identity, data []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.serve(w, r, method, func(ctx context.Context, data []byte) ([]byte, error) {
			token, _ := auth.Bearer(r)
			identity, err := g.authenticate(ctx, r, token)
			if err != nil {
				return nil, err
			}
			if !identity.User.Guest() {
				return nil, chat.ErrForbidden
			}
			if err := g.rates.SpendHTTP(ctx, identity.User.ID); err != nil {
				return nil, err
			}
			if identity.User.User, err = g.chat.Admit(ctx, identity.User, identity.Issued); err != nil {
				return nil, err
			}
			return encode(answer(ctx, identity, data))
		})
	}
}

func (g guestRequests) renew(ctx context.Context, guest auth.Identity, _ []byte) (any, error) {
	return g.guests.Renew(ctx, guest)
}

// signOut revokes all tokens of the guest and closes the guest's sockets.
func (g guestRequests) signOut(ctx context.Context, guest auth.Identity, _ []byte) (any, error) {
	return wire.DisconnectReply{}, g.revoke(ctx, guest.User.ID)
}

// changeProfile changes the guest's name and avatar. Messages that the guest's open sockets send afterwards carry the new name and
// avatar; on other instances this begins when they receive the notice of the change.
func (g guestRequests) changeProfile(ctx context.Context, guest auth.Identity, data []byte) (any, error) {
	var request wire.ProfileRequest
	if err := api.Decode(data, &request); err != nil {
		return nil, err
	}
	if err := g.rates.SpendProfileChange(ctx, guest.User.ID); err != nil {
		return nil, err
	}
	reply, err := g.guests.SetProfile(ctx, guest, &request)
	if err == nil {
		g.renamed(ctx, guest.User.ID)
	}
	return reply, err
}

func (g guestRequests) newDeviceCode(ctx context.Context, guest auth.Identity, _ []byte) (any, error) {
	if err := g.rates.SpendProfileChange(ctx, guest.User.ID); err != nil {
		return nil, err
	}
	return g.guests.NewDeviceCode(ctx, guest)
}

// serveLinkPreview returns the preview of an invite link. The code of the link proves that the visitor may see the preview, so the
// request needs no token. The code is in the body, because proxies log URLs.
func (s *Server) serveLinkPreview(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "preview_link", func(ctx context.Context, data []byte) ([]byte, error) {
		var request wire.PreviewLinkRequest
		if err := s.decodeVisitors(ctx, r, data, &request); err != nil {
			return nil, err
		}
		return encode(preview(ctx, s.chat, s.packets, &request))
	})
}

// serveRoomPreview returns the preview of a public room. Where guests are enabled, anyone can find the room as a guest, so the request needs no token.
// Without guests, only the host's users can find it: then each room is chat.ErrNotFound.
func (s *Server) serveRoomPreview(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "preview_room", func(ctx context.Context, data []byte) ([]byte, error) {
		var request wire.PreviewRoomRequest
		if err := s.decodeVisitors(ctx, r, data, &request); err != nil {
			return nil, err
		}
		if !s.guests.On() {
			return nil, chat.ErrNotFound
		}
		room, err := s.chat.PublicRoom(ctx, request.Room)
		if s.o.Lobby != nil && s.o.Lobby().Room == room.ID {
			room.Members-- // chat.LobbyHost
		}
		return encode(wire.PreviewRoomReply{Room: previewOf(room)}, err)
	})
}

// decodeVisitors decodes a visitor's request for a preview, and counts it against the limit of its address. It returns chat.ErrForbidden for a page that may
// not call the server: such a page must not use up the limit of its visitors.
func (s *Server) decodeVisitors(ctx context.Context, r *http.Request, data []byte, request any) error {
	if !s.origins.allowed(r) {
		return chat.ErrForbidden
	}
	if err := s.rates.SpendPreview(ctx, subnet(s.proxies.client(r))); err != nil {
		return err
	}
	return api.Decode(data, request)
}

func previewOf(r chat.Room) wire.PreviewRoom {
	room := convert.Room(r)
	return wire.PreviewRoom{Name: room.Name, Kind: room.Kind, Members: room.Members, Guests: room.Guests}
}

// preview returns what an invite link leads to: the room, the creator of the link, some members, and the packet of the request.
// It leaves out a packet that is not in the link's room.
func preview(ctx context.Context, rooms *chat.Service, packets *redpacket.Service, r *wire.PreviewLinkRequest) (wire.PreviewLinkReply, error) {
	in, err := rooms.Invitation(ctx, r.Code)
	if err != nil {
		return wire.PreviewLinkReply{}, err
	}
	reply := wire.PreviewLinkReply{
		Room: previewOf(in.Room),
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
