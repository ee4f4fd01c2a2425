package web

import (
	"context"
	"net/http"

	"hongbao/chat"
	"hongbao/web/api"
	"hongbao/web/auth"
	"hongbao/web/guest"
	"hongbao/web/wire"
)

// Guests configures guests: users that have no account with the host.
type Guests = guest.Options

// serveGuests creates a guest and returns their token. The request needs no token.
func (s *Server) serveGuests(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "guests", func(ctx context.Context, data []byte) ([]byte, error) {
		var request wire.GuestRequest
		if err := s.newcomer(ctx, r, data, &request); err != nil {
			return nil, err
		}
		return encode(s.guests.Make(ctx, &request))
	})
}

// serveRedeem signs a guest in by a device code. The request needs no token.
func (s *Server) serveRedeem(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "redeem", func(ctx context.Context, data []byte) ([]byte, error) {
		var request wire.RedeemRequest
		if err := s.newcomer(ctx, r, data, &request); err != nil {
			return nil, err
		}
		return encode(s.guests.Redeem(ctx, &request))
	})
}

// newcomer decodes a request that needs no token, and counts it against the limit of its address.
func (s *Server) newcomer(ctx context.Context, r *http.Request, data []byte, request any) error {
	if !s.guests.On() {
		return chat.ErrNotFound
	}
	if err := s.rates.SpendGuest(ctx, subnet(s.proxies.client(r))); err != nil {
		return err
	}
	return api.Decode(data, request)
}

// serveGuest answers a request that only guests may make. The request must carry a guest's token.
func (s *Server) serveGuest(method string, answer func(ctx context.Context, guest auth.Identity, data []byte) (any, error)) http.HandlerFunc {
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
	return s.revoke(ctx, guest.User.ID)
}

// changeProfile changes the guest's name and avatar. What the guest's open sockets send afterwards has them.
func (s *Server) changeProfile(ctx context.Context, guest auth.Identity, data []byte) (any, error) {
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
