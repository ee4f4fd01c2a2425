package web

import (
	"context"
	"errors"
	"net/http"

	"hongbao/web/api"
	"hongbao/web/auth"
)

// callerOf returns the user whose token the request carries, as the caller of commands.
func (s *Server) callerOf(ctx context.Context, r *http.Request) (api.Caller, error) {
	token, _ := auth.Bearer(r)
	identity, err := s.authenticate(ctx, r, token)
	if err != nil {
		return api.Caller{}, err
	}
	return api.Caller{User: identity.User, Admin: identity.Admin}, s.chat.Admit(ctx, identity.User, identity.Issued)
}

// authenticate verifies the token of a request and admits its user. All invalid tokens get the same error, except
// expired ones.
func (s *Server) authenticate(ctx context.Context, r *http.Request, token string) (auth.Identity, error) {
	identity, err := s.verify(ctx, token)
	if errors.Is(err, auth.ErrInvalid) {
		s.o.Log.Debug("request refused", "client", s.proxies.client(r), "path", r.URL.Path)
		return auth.Identity{}, errUnauthorized
	}
	return identity, err
}

// verify returns the identity that a token proves. Why a token is invalid is only logged.
func (s *Server) verify(ctx context.Context, token string) (auth.Identity, error) {
	identity, err := s.tokens.Verify(ctx, token)
	if err != nil {
		s.o.Log.Debug("token refused", "err", err)
	}
	return identity, err
}
