package web

import (
	"context"
	"errors"
	"net/http"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/user/guest"
	"hongbao/web/wire"
)

// Guests configures guests: users that have no account with the host.
type Guests = guest.Options

// open answers requests that need no token, and counts them against a limit of their address. If enabled is false, it returns
// chat.ErrNotFound. It returns chat.ErrForbidden for a page that may not call the server: such a page must not use up the limit of its visitors.
func open[Request, Reply any](s *Server, method string, enabled bool, spend func(ctx context.Context, address string) error,
	answer func(context.Context, *Request) (Reply, error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, method, func(ctx context.Context, data []byte) ([]byte, error) {
			if !enabled {
				return nil, chat.ErrNotFound
			}
			if !s.origins.allowed(r) {
				return nil, chat.ErrForbidden
			}
			if err := spend(ctx, subnet(s.proxies.client(r))); err != nil {
				return nil, err
			}
			var request Request
			if err := api.Decode(data, &request); err != nil {
				return nil, err
			}
			return encode(answer(ctx, &request))
		})
	}
}

// byGuest answers a request that only guests may make. The request must carry a guest's token.
func (s *Server) byGuest(method string, answer func(ctx context.Context, guest auth.Identity, data []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, method, func(ctx context.Context, data []byte) ([]byte, error) {
			token, _ := auth.Bearer(r)
			identity, err := s.authenticate(ctx, r, token)
			if err != nil {
				return nil, err
			}
			if !identity.User.Guest() {
				return nil, chat.ErrForbidden
			}
			if err := s.rates.SpendHTTP(ctx, identity.User.ID); err != nil {
				return nil, err
			}
			if identity.User.User, err = s.chat.Admit(ctx, identity.User, identity.Issued); err != nil {
				return nil, err
			}
			return encode(answer(ctx, identity, data))
		})
	}
}

func (s *Server) renewGuest(ctx context.Context, guest auth.Identity, _ []byte) (any, error) {
	return s.guests.Renew(ctx, guest)
}

// signOutGuest revokes all tokens of the guest and closes the guest's sockets.
func (s *Server) signOutGuest(ctx context.Context, guest auth.Identity, _ []byte) (any, error) {
	return wire.DisconnectReply{}, s.revoke(ctx, guest.User.ID)
}

// changeGuestProfile changes the guest's name and avatar. Messages that the guest's open sockets send afterwards carry the new name and
// avatar; on other instances this begins when they receive the notice of the change.
func (s *Server) changeGuestProfile(ctx context.Context, guest auth.Identity, data []byte) (any, error) {
	var request wire.ProfileRequest
	if err := api.Decode(data, &request); err != nil {
		return nil, err
	}
	if err := s.rates.SpendProfileChange(ctx, guest.User.ID); err != nil {
		return nil, err
	}
	reply, err := s.guests.SetProfile(ctx, guest, &request)
	if err == nil {
		s.sessions.Renamed(ctx, guest.User.ID)
	}
	return reply, err
}

func (s *Server) newDeviceCode(ctx context.Context, guest auth.Identity, _ []byte) (any, error) {
	if err := s.rates.SpendProfileChange(ctx, guest.User.ID); err != nil {
		return nil, err
	}
	return s.guests.NewDeviceCode(ctx, guest)
}

// previewRoom returns the preview of a public room. Where guests are enabled, anyone can find the room as a guest, so the request needs no token.
// Without guests, only the host's users can find it: then each room is chat.ErrNotFound.
func (s *Server) previewRoom(ctx context.Context, r *wire.PreviewRoomRequest) (wire.PreviewRoomReply, error) {
	if !s.guests.On() {
		return wire.PreviewRoomReply{}, chat.ErrNotFound
	}
	room, err := s.chat.PublicRoom(ctx, r.Room)
	if s.o.Lobby != nil && s.o.Lobby().Room == room.ID {
		room.Members-- // chat.LobbyHost
	}
	return wire.PreviewRoomReply{Room: previewOf(room)}, err
}

func previewOf(r chat.Room) wire.PreviewRoom {
	room := convert.Room(r)
	return wire.PreviewRoom{Name: room.Name, Kind: room.Kind, Members: room.Members, Guests: room.Guests}
}

// previewLink returns what an invite link leads to: the room, the creator of the link, some members, and the packet of the request.
// It leaves out a packet that is not in the link's room, or that a newcomer cannot grab. The code of the link proves that the visitor may see the preview, so the
// request needs no token. The code is in the body, because proxies log URLs.
func (s *Server) previewLink(ctx context.Context, r *wire.PreviewLinkRequest) (wire.PreviewLinkReply, error) {
	in, err := s.chat.Invitation(ctx, r.Code)
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
	packet, err := s.packets.Envelope(ctx, in.Room.ID, r.Packet)
	switch {
	case errors.Is(err, chat.ErrNotFound):
		return reply, nil
	case err != nil:
		return wire.PreviewLinkReply{}, err
	}
	reply.Packet = &wire.PreviewPacket{From: convert.Face(packet.From), Greeting: packet.Greeting}
	return reply, nil
}
